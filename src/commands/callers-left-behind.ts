/** Which published workflows `workflows apply --prune` would break. */
import type { Readers } from "../core/ports.ts";
import { calledWorkflowIds } from "../core/workflow-calls.ts";

interface AppliedFile {
  id: string;
  content: { definition: Record<string, unknown> };
}

/** Published workflows that run an archived one, by the id of the archived one. */
export type CallersLeftBehind = ReadonlyMap<string, readonly string[]>;

/** The line that names the callers of an archived workflow; empty if none would break. */
export function brokenBy(id: string, broken: CallersLeftBehind): string {
  const callers = broken.get(id);
  return callers === undefined ? "" : `  breaks published workflows that run it: ${callers.join(", ")}\n`;
}

/** Finds the published workflows that run an archived one, and still do when the files are published. */
export async function callersLeftBehind(
  { callers }: Pick<Readers["workflows"], "callers">,
  files: readonly AppliedFile[],
  archived: readonly { id: string }[],
): Promise<CallersLeftBehind> {
  const leaving = new Set(archived.map(({ id }) => id));
  const definitions = new Map(files.map(({ id, content }) => [id, content.definition]));
  const found = new Map<string, string[]>();
  for (const id of leaving) {
    const left = (await callers(id, { published: true })).filter((caller) => {
      const definition = definitions.get(caller);
      return !leaving.has(caller) && (definition === undefined || calledWorkflowIds(definition).includes(id));
    });
    if (left.length > 0) found.set(id, left);
  }
  return found;
}
