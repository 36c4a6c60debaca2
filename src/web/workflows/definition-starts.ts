/** What starts the runs of a definition by itself, and what is expected of them. The definition may have issues. */
import { parseSchedule } from "./schedule-text.tsx";
import { triggerIds } from "./trigger-ids.ts";

export type DefinitionStart =
  | { kind: "schedule"; cron: string; timezone: string }
  | { kind: "webhook"; id: string }
  /** Not a start: within which time a run must succeed. */
  | { kind: "must_succeed"; every: string };

export function definitionStarts(definition: Record<string, unknown> | null): DefinitionStart[] {
  const schedule = parseSchedule(definition);
  const every = mustSucceedEvery(definition);
  return [
    ...(schedule === undefined ? [] : [{ kind: "schedule", ...schedule } as const]),
    // Two triggers of a draft may have the same id.
    ...[...new Set(triggerIds(definition))].map((id) => ({ kind: "webhook", id }) as const),
    ...(every === undefined ? [] : [{ kind: "must_succeed", every } as const]),
  ];
}

function mustSucceedEvery(definition: Record<string, unknown> | null): string | undefined {
  const expected = definition?.["must_succeed"];
  if (typeof expected !== "object" || expected === null) return undefined;
  const { every } = expected as { every?: unknown };
  return typeof every === "string" ? every : undefined;
}
