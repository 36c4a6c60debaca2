/** The direction of a language. The build writes it to the page (vite.config.ts), which is where styles and components read it. */

/** Scripts that are written from right to left, by their code in ISO 15924. */
const RIGHT_TO_LEFT = new Set(["Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"]);

/** @param language a BCP 47 tag, such as "de" or "az-Arab" */
export function directionOf(language: string): "ltr" | "rtl" {
  const { script } = new Intl.Locale(language).maximize();
  return script !== undefined && RIGHT_TO_LEFT.has(script) ? "rtl" : "ltr";
}
