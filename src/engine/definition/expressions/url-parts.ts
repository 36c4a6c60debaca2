/** Says which values are percent-encoded inside the text of a URL. */
import type { ParsedExpression } from "./parse.ts";

/**
 * Whether a value is encoded. At the start of the text it can only be the origin, and with raw() and url_encode() the author
 * has decided.
 * @param index its position among the parts of the text
 */
export const isPercentEncoded = ({ expr }: ParsedExpression, index: number): boolean =>
  index > 0 && !(expr.kind === "call" && (expr.name === "raw" || expr.name === "url_encode"));
