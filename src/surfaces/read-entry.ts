/** What the audit log says about an answered read of run values. */
import type { AuditDetails, ReadEntry } from "../core/account-ports.ts";
import { type AnyTool, parseRoute } from "../core/tool.ts";
import type { Call } from "./invoke.ts";

/**
 * Describes an answer for the audit log: who read what, through which client, with which filters. It contains no values.
 * @param part what was answered, if not the output: appended to the operation's name
 */
export function readEntryOf(
  tool: AnyTool,
  input: Readonly<Record<string, unknown>>,
  output: unknown,
  call: Pick<Call, "actor" | "requestId">,
  part = tool.effect === "read" ? undefined : "read",
): ReadEntry {
  const target = targetOf(tool, input, output);
  const { project } = input;
  return {
    operation: part === undefined ? tool.name : `${tool.name}.${part}`,
    target,
    ...(target === null && { project: projectOfList(project, call) }),
    actor: call.actor,
    requestId: call.requestId,
    details: tool.effect === "read" ? detailsOf(input, output, target) : undefined,
  };
}

/** The run, approval or workflow whose values were returned; null for a list that names none. */
function targetOf(tool: AnyTool, input: Readonly<Record<string, unknown>>, output: unknown): string | null {
  const { id, run_id: runId } = (output ?? {}) as Readonly<Record<string, unknown>>;
  const [parameter] = parseRoute(tool).parameters;
  const found = [id, runId, parameter === undefined ? undefined : input[parameter]];
  return found.find((value) => typeof value === "string") ?? null;
}

/** The project of a list: the one that it was asked for, or the caller's only one. */
function projectOfList(asked: unknown, { actor }: Pick<Call, "actor">): string | undefined {
  if (typeof asked === "string") return asked;
  const { everywhere, projects } = actor.principal.access;
  return everywhere === null && projects.size === 1 ? [...projects.keys()][0] : undefined;
}

/** The filters and options of a read, and for a list the number of items. */
function detailsOf(
  input: Readonly<Record<string, unknown>>,
  output: unknown,
  target: string | null,
): AuditDetails | undefined {
  const options = Object.entries(input).filter(
    ([name, value]) => name !== "cursor" && value !== target && isRecordable(value),
  );
  const { items } = (output ?? {}) as { items?: unknown };
  if (Array.isArray(items)) options.push(["items", items.length]);
  return options.length === 0 ? undefined : (Object.fromEntries(options) as AuditDetails);
}

const isRecordable = (value: unknown): boolean =>
  typeof value === "string" ||
  typeof value === "boolean" ||
  Number.isSafeInteger(value) ||
  (Array.isArray(value) && value.every((item) => typeof item === "string"));
