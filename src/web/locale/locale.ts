/** The language of this build, and how dates and numbers are written. Both are fixed for a loaded page. */
import { language } from "#texts/language";

export { language };

/** The first locale of the browser that has the language of the interface, such as en-GB; else the language. */
export const locale: string = chooseLocale(language, globalThis.navigator?.languages ?? []);

/** @param preferred the locales of the browser, the most preferred first */
export function chooseLocale(wanted: string, preferred: readonly string[]): string {
  return preferred.find((one) => one === wanted || one.startsWith(`${wanted}-`)) ?? wanted;
}

const numberFormats = new Map<string, Intl.NumberFormat>();

/** Formats a number: "1,234.5". */
export function formatNumber(value: number, options: Intl.NumberFormatOptions = {}): string {
  const key = JSON.stringify(options);
  let format = numberFormats.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat(locale, options);
    numberFormats.set(key, format);
  }
  return format.format(value);
}
