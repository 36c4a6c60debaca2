/** The languages of the interface, and the choice of one. */
import {
  INTERFACE_LANGUAGES,
  type InterfaceLanguage,
  LANGUAGE_COOKIE,
} from "../../../schemas/interface-language.ts";

/** Each in its own language. */
const NAMES: Readonly<Record<InterfaceLanguage, string>> = { en: "English", de: "Deutsch" };

export const LANGUAGES = INTERFACE_LANGUAGES.map((code) => ({ code, name: NAMES[code] }));

const YEAR_S = 31_536_000;

/** Keeps the choice in a cookie, by which the server picks the page, and loads the page again. */
export function chooseLanguage(code: string): void {
  // oxlint-disable-next-line unicorn/no-document-cookie -- the server reads it; the Cookie Store API needs https
  document.cookie = languageCookie(code, location.protocol === "https:");
  location.reload();
}

export const languageCookie = (code: string, secure: boolean): string =>
  `${LANGUAGE_COOKIE}=${code}; Path=/; Max-Age=${YEAR_S}; SameSite=Lax${secure ? "; Secure" : ""}`;
