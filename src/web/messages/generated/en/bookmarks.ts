/** Generated from src/web/messages/en/bookmarks.json by `npm run generate`. Edit that file instead. */

export const saveFailed = "Couldn't save your bookmarks";
export const removeFavorite = "Remove from favourites";
export const addFavorite = "Add to favourites";
export const favorite = ({ name }: { name: string | number }): string =>
  `Favourite: ${name}`;
export const savedFilters = "Saved filters";
export const noneSaved = "Set filters, then save them here. Only you see them.";
export const removeFilter = ({ name }: { name: string | number }): string =>
  `Remove the saved filter ${name}`;
export const saveAs = "Save the current filters as";
export const replace = "Replace";
export const save = "Save";
