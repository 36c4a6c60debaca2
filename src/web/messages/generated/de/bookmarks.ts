/** Generated from src/web/messages/de/bookmarks.json by `npm run generate`. Edit that file instead. */

export const saveFailed = "Lesezeichen konnten nicht gespeichert werden";
export const removeFavorite = "Aus Favoriten entfernen";
export const addFavorite = "Zu Favoriten hinzufügen";
export const favorite = ({ name }: { name: string | number }): string =>
  `Favorit: ${name}`;
export const savedFilters = "Gespeicherte Filter";
export const noneSaved = "Setzen Sie Filter und speichern Sie sie hier. Nur Sie sehen sie.";
export const removeFilter = ({ name }: { name: string | number }): string =>
  `Gespeicherten Filter ${name} entfernen`;
export const saveAs = "Aktuelle Filter speichern als";
export const replace = "Ersetzen";
export const save = "Speichern";
