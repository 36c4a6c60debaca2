/** The difference between two versions of a workflow, as lines of its YAML form. */
import type { WorkflowVersion } from "../../schemas/workflow.ts";
import { lineDiff } from "../../src/core/line-diff.ts";
import type { WorkflowReader } from "../../src/core/workflow-ports.ts";

/** Maximum length of a definition that is compared, in characters of JSON: the event loop writes and compares its lines. */
const MAX_LENGTH = 100_000;

const SIGN = { added: "+", removed: "-", same: " ", gap: " " } as const;

/**
 * Compares two versions by line.
 * @param from null to compare with nothing
 * @returns the changed lines with a sign before each; empty if they are equal, null if one is too long or was pruned
 */
export async function versionDifference(
  workflows: Pick<WorkflowReader, "findVersion">,
  id: string,
  from: number | null,
  to: number,
): Promise<string | null> {
  const texts: string[] = [];
  for (const version of [from, to]) {
    const text = version === null ? "" : await yamlOf(await workflows.findVersion(id, version));
    if (text === null) return null;
    texts.push(text);
  }
  const [before = "", after = ""] = texts;
  return lineDiff(before, after)
    .map(({ kind, text }) => `${SIGN[kind]}${text}\n`)
    .join("");
}

async function yamlOf(version: WorkflowVersion | undefined): Promise<string | null> {
  const { name, description, tags, definition } = version!;
  if (definition === null || definition === undefined) return null;
  if (JSON.stringify(definition).length > MAX_LENGTH) return null;
  // Loaded when it is needed first: it is a part of the checker.
  const { toYaml } = await import("../../src/engine/definition/check/index.ts");
  return toYaml({ name, description, tags, ...definition });
}
