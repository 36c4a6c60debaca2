import { createHash } from "node:crypto";

/**
 * Ids that can be read off a tool's name: with a dash as an underscore, and the dot after a project as a dash. No two of them
 * have the same name, so a name never depends on which other workflows there are.
 */
const READABLE_ID = /^[a-z0-9.-]{1,60}$/;
/** Maximum length of the name of a tool, in characters. */
const MAX_NAME = 64;
/**
 * Length up to which a name fits with the prefixes of clients: Claude Code adds `mcp__millrace__` (15), OpenCode `millrace_` (9), and
 * VS Code up to 18 characters, to the 64 that model vendors take; Cursor drops tools with more than 60 together with the server.
 */
export const MAX_PREFIXED_NAME = 46;
const HASH_LENGTH = 8;
/** Stands before a hash, and in no other name. */
const SEPARATOR = "--";

/**
 * The name of the tool of an exposed workflow: `run_weekly_revenue`, or `run_finance-weekly_revenue` of one in a project. Where
 * it is too long, or that of another tool, it ends in a hash of the id; so does a name that the author has chosen
 * (`run_revenue--1f3a5b7c`), because workflows of other projects, which the author can't see, may have the same.
 * @param definition that of the published version
 * @param reservedNames the names of other tools
 */
export function exposedToolName(
  { id, definition }: { id: string; definition: Readonly<Record<string, unknown>> },
  reservedNames: ReadonlySet<string>,
): string {
  const { tool_name: chosen } = definition;
  const readable =
    typeof chosen === "string" ? chosen : id.replaceAll(/[^A-Za-z0-9.]/g, "_").replaceAll(".", "-");
  const name = `run_${readable}`;
  if (chosen === undefined && READABLE_ID.test(id) && !reservedNames.has(name)) return name;
  const hash = createHash("sha256").update(id).digest("hex").slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_NAME - HASH_LENGTH - SEPARATOR.length)}${SEPARATOR}${hash}`;
}
