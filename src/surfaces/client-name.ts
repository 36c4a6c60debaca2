/** The name of a client program, made safe to store and to print to a terminal. */

import { replaceHiddenCharacters } from "../../schemas/hidden-characters.ts";
import { headerText } from "../core/header-text.ts";

const MAX_CODE_POINTS = 200;

/** @param value the name that the client sent: of any length, possibly with control characters or a lone surrogate */
export function clientName(value: string | null | undefined): string {
  if (value === null || value === undefined || value === "") return "unknown";
  // Truncated first, because splitting into code points is slow. A code point has at most two UTF-16 units.
  const name = value.slice(0, 2 * MAX_CODE_POINTS).toWellFormed();
  return Array.from(replaceHiddenCharacters(name, "\u{FFFD}")).slice(0, MAX_CODE_POINTS).join("");
}

/** As `clientName`, of the header User-Agent. */
export const userAgentName = (header: string | null | undefined): string =>
  clientName(headerText(header ?? ""));
