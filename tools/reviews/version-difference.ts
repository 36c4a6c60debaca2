/** The difference between two versions of a workflow, or two definitions, as lines of their YAML form. */
import type { WorkflowVersion } from "../../schemas/workflow.ts";
import { lineDiff } from "../../src/core/line-diff.ts";
import type { WorkflowReader } from "../../src/core/ports.ts";

/** Maximum length of a definition that is compared, in characters of JSON: the event loop writes and compares its lines. */
const MAX_LENGTH = 100_000;

const SIGN = { added: "+", removed: "-", same: " ", gap: " " } as const;

type Written = Readonly<Record<string, unknown>>;

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
  const before = from === null ? undefined : writtenVersion(await workflows.findVersion(id, from));
  return writtenDifference(before, writtenVersion(await workflows.findVersion(id, to)));
}

function writtenVersion(version: WorkflowVersion | undefined): Written | null {
  const { name, description, tags, definition } = version!;
  return definition === null || definition === undefined ? null : { name, description, tags, ...definition };
}

/**
 * Compares two definitions by line.
 * @param before undefined to compare with nothing; null for a definition that was pruned
 * @returns the same as `versionDifference`
 */
export async function writtenDifference(
  before: Written | null | undefined,
  after: Written | null,
): Promise<string | null> {
  const texts: string[] = [];
  for (const written of [before, after]) {
    const text = written === undefined ? "" : await yamlOf(written);
    if (text === null) return null;
    texts.push(text);
  }
  const [old = "", current = ""] = texts;
  return lineDiff(old, current)
    .map(({ kind, text }) => `${SIGN[kind]}${text}\n`)
    .join("");
}

async function yamlOf(written: Written | null): Promise<string | null> {
  if (written === null || JSON.stringify(written).length > MAX_LENGTH) return null;
  // Loaded when it is needed first: it is a part of the checker.
  const { toYaml } = await import("../../src/engine/definition/check/index.ts");
  return toYaml(written);
}
