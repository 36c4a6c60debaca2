/** Generated from src/web/messages/de/locale.json by `npm run generate`. Edit that file instead. */

export const language = "Language / Sprache";
export const needsScripts = "Diese Seite benötigt JavaScript. Skripte und Agenten können die API verwenden, siehe /apidoc/.";
