/** Generated from src/web/messages/en/locale.json by `npm run generate`. Edit that file instead. */

export const language = "Language / Sprache";
export const needsScripts = "This page needs JavaScript. Scripts and agents can use the API, see /apidoc/.";
