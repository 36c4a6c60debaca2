/** Where a search of the whole interface leads: pages and actions by their names, and what an id or a copied address names. */
import { foldText } from "../../../schemas/fold-text.ts";

/** The pages of what has an id, by the prefix of the id. */
const PATHS_BY_PREFIX: Readonly<Record<string, { path: string; noun: string }>> = {
  run: { path: "/runs/", noun: "Run" },
  apr: { path: "/approvals/", noun: "Approval" },
  rev: { path: "/reviews/", noun: "Review" },
  key: { path: "/keys/", noun: "API key" },
  blk: { path: "/bulk-actions/", noun: "Bulk action" },
};

export interface IdPlace {
  path: string;
  noun: string;
  id: string;
}

/** The page of the thing whose id a text is, or has in it, such as a line of a log or an address. */
export function placeOfId(text: string): IdPlace | undefined {
  const [, prefix = "", id = ""] = /(?:^|[^\w-])((?:run|apr|rev|key|blk))_([\w-]{8,40})/.exec(text) ?? [];
  const known = PATHS_BY_PREFIX[prefix];
  return known && { path: `${known.path}${prefix}_${id}`, noun: known.noun, id: `${prefix}_${id}` };
}

/** Whether a label, or a word that stands for it, contains every word of a text. */
export function isNamed({ label, words = "" }: { label: string; words?: string }, text: string): boolean {
  const name = foldText(`${label} ${words}`);
  return foldText(text)
    .split(/\s+/)
    .every((word) => name.includes(word));
}
