/** Everybody who caused a run: whom the record of the run names, and who decides nothing in it. */
import type { RunActor, RunCause, RunRecord } from "./model.ts";
import type { TriggerDeliveryRecord } from "./trigger-ports.ts";
import { usageSubjectOf } from "./usage-limits.ts";

/** A cause that names who it was. */
export type PersonalCause = Exclude<RunCause, { kind: "unsigned" | "inputs" }>;

export const isPersonal = (cause: RunCause): cause is PersonalCause =>
  cause.kind !== "unsigned" && cause.kind !== "inputs";

/** Whether it names who wrote what the run executes, which is no saved version. */
export const isDefiner = (cause: RunCause): cause is PersonalCause & { kind: "patched" | "step" } =>
  cause.kind === "patched" || cause.kind === "step";

/** Somebody as a cause. @param by the run, or the delivery, with which they caused it */
export const personalCause = (
  kind: PersonalCause["kind"],
  { owner, keyName, lineage }: Pick<RunActor, "owner" | "keyName" | "lineage">,
  by: string,
): PersonalCause => ({ kind, owner, keyName, lineage, by });

/** A run that is prepared, and what it is prepared for. */
interface Starting {
  id: string;
  workflowId: string | null;
  actor: RunActor;
  /** Its own definition, if it has one. */
  definition: Record<string, unknown> | null;
  /** The run that it repeats. */
  retryOf: Pick<RunRecord, "id" | "workflowId" | "definition" | "actor" | "causes"> | undefined;
  /** Who caused it besides its actor, and the causes of the run that starts it. */
  causes: readonly RunCause[];
}

/** Who gave a run a definition of its own, or keeps that of the run that it repeats. */
const definers = ({
  id,
  workflowId,
  actor,
  definition,
}: Pick<Starting, "id" | "workflowId" | "actor" | "definition">): PersonalCause[] =>
  definition === null ? [] : [personalCause(workflowId === null ? "step" : "patched", actor, id)];

/** The causes of a new run: those that it inherits, who started what it repeats, and whose definition it has. */
export function causesOfRun({ id, workflowId, actor, definition, retryOf, causes }: Starting): RunCause[] {
  const all: RunCause[] = [
    ...causes,
    ...(retryOf === undefined
      ? []
      : [
          ...retryOf.causes,
          personalCause("started", retryOf.actor, retryOf.id),
          // It has no such cause where an older release started it.
          ...definers(retryOf),
        ]),
    ...definers({ id, workflowId, actor, definition }),
  ];
  return distinctCauses(all);
}

/** Causes without those that name the same person, or owner of keys, for the same kind again. */
export function distinctCauses(causes: readonly RunCause[]): RunCause[] {
  const first = new Map<string, RunCause>();
  for (const cause of causes) {
    const key = isPersonal(cause)
      ? `${cause.kind} ${usageSubjectOf(cause)}`
      : cause.kind === "inputs"
        ? `inputs ${cause.by}`
        : cause.kind;
    if (!first.has(key)) first.set(key, cause);
  }
  return [...first.values()];
}

/** Everybody who delivered a delivery again, or one that it repeats: the first of them first. */
export const redeliverersOf = ({
  id,
  redeliveredBy,
}: Pick<TriggerDeliveryRecord, "id" | "redeliveredBy">): PersonalCause[] =>
  redeliveredBy === null
    ? []
    : [...(redeliveredBy.earlier ?? []), personalCause("redelivered", redeliveredBy, id)];
