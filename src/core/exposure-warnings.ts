/** Warns of what agents, and the programs between them and Millrace, do not take from a workflow that is a tool of its own. */
import type { PartialIssue } from "./connections.ts";
import { exposedToolName, MAX_PREFIXED_NAME } from "./exposed-tool-name.ts";
import { inputChanges } from "./listed-inputs/index.ts";
import { slugOf } from "./slug.ts";

/** Maximum length of a suggested name, in characters. */
const MAX_SUGGESTION = 30;
const NONE: ReadonlySet<string> = new Set();

/**
 * Warns of the name of its tool and of its inputs; paths are in the definition.
 * @param id undefined for a workflow that does not exist yet
 */
export function exposureWarnings(
  id: string | undefined,
  definition: Readonly<Record<string, unknown>>,
): PartialIssue[] {
  if (definition["expose_as_tool"] !== true) return [];
  const { inputs } = definition;
  const changes = inputs === undefined ? [] : inputChanges(inputs as Record<string, unknown>);
  return [
    ...(id === undefined ? [] : nameWarnings(exposedToolName({ id, definition }, NONE), id)),
    ...changes.map((issue) => Object.assign(issue, { path: ["inputs", ...(issue.path ?? [])] })),
  ];
}

function nameWarnings(name: string, id: string): PartialIssue[] {
  if (name.length <= MAX_PREFIXED_NAME) return [];
  const suggested = slugOf(id.split(".").at(-1)!, MAX_SUGGESTION)
    .replaceAll("-", "_")
    .replace(/^[^a-z]+/, "");
  return [
    {
      path: ["expose_as_tool"],
      code: "long_tool_name",
      severity: "warning",
      message:
        `makes the tool ${name}, whose name has ${name.length} characters: with what clients put before it (mcp__millrace__ in ` +
        "Claude Code) it can have more than the 64 that models take, or the 60 that Cursor takes",
      fix: `Add tool_name with a short name, such as tool_name: ${suggested || "short"}.`,
    },
  ];
}
