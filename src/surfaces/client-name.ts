/** The program that a client says it is, fit to be stored and to be shown in a terminal. */

const MAX_CODE_POINTS = 200;

/** @param claimed as it came: of any length, with control characters or half a surrogate pair in it */
export function clientName(claimed: string | null | undefined): string {
  if (claimed === null || claimed === undefined || claimed === "") return "unknown";
  // The cheap cut first; a code point is two units at most.
  const name = claimed.slice(0, 2 * MAX_CODE_POINTS).toWellFormed();
  return Array.from(name.replace(/\p{Cc}/gu, "\u{FFFD}"))
    .slice(0, MAX_CODE_POINTS)
    .join("");
}
