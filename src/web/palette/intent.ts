/** What a query of the command palette asks for. */

export interface Intent {
  /** What to do with the workflow that is found. */
  verb: "open" | "run" | "edit";
  /** The words to search for. */
  words: string;
}

/** Reads `run weekly` as a run of what `weekly` finds. */
export function intentOf(query: string): Intent {
  const [, verb, words] = /^(run|edit)\s+(\S.*)$/i.exec(query.trim()) ?? [];
  return verb === undefined
    ? { verb: "open", words: query.trim() }
    : { verb: verb.toLowerCase() as "run" | "edit", words: words! };
}

/** Whether each word of a query begins a word of the text, ignoring case and accents. */
export function matches(text: string, query: string): boolean {
  const words = plain(text).split(/[\s/-]+/);
  return plain(query)
    .split(/\s+/)
    .every((part) => words.some((word) => word.startsWith(part)));
}

const plain = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trim();

const RESOURCES = { run_: "runs", apr_: "approvals" } as const;

/** The page of something whose id was pasted; undefined if the query is no id. */
export function addressOfId(query: string): { kind: "run" | "approval"; id: string; to: string } | undefined {
  const [, prefix] = /^(run_|apr_)[\w-]{4,}$/.exec(query.trim()) ?? [];
  if (prefix === undefined) return undefined;
  const id = query.trim();
  return {
    kind: prefix === "run_" ? "run" : "approval",
    id,
    to: `/${RESOURCES[prefix as keyof typeof RESOURCES]}/${id}`,
  };
}
