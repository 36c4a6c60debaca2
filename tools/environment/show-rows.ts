import { truncateText } from "../runs/truncate.ts";

type Row = Record<string, unknown>;

/** Minimum length of a text that is cut, in characters. */
const MIN_TEXT_CHARS = 40;

/**
 * The first rows of a list, as whole rows as far as they fit. Of a first row that does not fit alone, long texts are cut.
 * @param limits.maxChars maximum size of the rows together, in characters of JSON
 */
export function showRows(
  rows: readonly Row[],
  { maxRows, maxChars }: { maxRows: number; maxChars: number },
): { rows: Row[]; shortened: boolean } {
  const shown: Row[] = [];
  let chars = 0;
  for (const row of rows.slice(0, maxRows)) {
    chars += JSON.stringify(row).length + 1;
    if (chars > maxChars) break;
    shown.push(row);
  }
  const [first] = rows;
  if (shown.length > 0 || first === undefined) return { rows: shown, shortened: false };
  const share = Math.max(MIN_TEXT_CHARS, Math.floor(maxChars / Object.keys(first).length));
  const cut = Object.entries(first).map(([name, value]) => {
    const json = typeof value === "string" ? value : JSON.stringify(value);
    return [name, json.length <= share ? value : truncateText(json, share)] as const;
  });
  return { rows: [Object.fromEntries(cut)], shortened: true };
}
