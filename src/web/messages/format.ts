/** What compiled messages need at run time. */
import { language } from "../locale/locale.ts";

export { formatNumber } from "../locale/locale.ts";

const pluralRules = new Intl.PluralRules(language);

/** @returns the plural form of a number: "one", "other", … */
export const pluralForm = (count: number): Intl.LDMLPluralRule => pluralRules.select(count);
