/** The languages of the web interface, and the cookie that chooses one. */

/** The first is served where no other is wanted. Each has a folder of catalogues (src/web/messages) and a build. */
export const INTERFACE_LANGUAGES = ["en", "de"] as const;

export type InterfaceLanguage = (typeof INTERFACE_LANGUAGES)[number];

/** The cookie that the interface sets when a person chooses a language. The server picks the page by it. */
export const LANGUAGE_COOKIE = "millrace_language";
