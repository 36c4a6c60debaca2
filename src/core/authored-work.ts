/** Finds what a person has to do with what an approval decides on: that they caused the run, or wrote what it runs without a review by anybody else. */
import { OPERATOR } from "../../schemas/actor.ts";
import { type Contribution, isContributor, unreviewedContribution } from "./authorship.ts";
import type { EngineApi, RemainingWork } from "./engine-port.ts";
import { samePerson } from "./mailbox.ts";
import type { RunActor, RunRecord } from "./model.ts";
import type { Principal, WorkflowReader } from "./ports.ts";
import { isDefiner, isPersonal, personalCause, type PersonalCause } from "./run-causes.ts";
import type { RunReader } from "./run-ports.ts";
import { usageSubjectOf } from "./usage-limits.ts";

type Person = Pick<Principal, "owner" | "keyName" | "lineage">;

export interface AuthorshipReaders {
  runs: Pick<RunReader, "find">;
  workflows: Pick<WorkflowReader, "authorship">;
}

/** What a caller contributed to a version, or to the changed definition of a retry; or a single step that it ran. */
export type AuthoredWork =
  | (Contribution & { workflowId: string })
  | { kind: "patched"; runId: string }
  | { kind: "step"; runId: string };

const isStarter = (
  person: Pick<Person, "owner" | "lineage">,
  starter: Pick<RunActor, "owner" | "lineage">,
): boolean =>
  samePerson(person.owner, starter.owner) &&
  (person.owner !== OPERATOR || person.lineage === starter.lineage);

/** How a person caused a run to start, themselves or by what it repeats; undefined where they did not. */
export const findStart = (
  person: Pick<Person, "owner" | "lineage">,
  { id, actor, causes }: Pick<RunRecord, "id" | "actor" | "causes">,
): PersonalCause | undefined => {
  const personal = causes.filter(isPersonal);
  // A redelivery says more than that the run belongs to them.
  return [
    ...personal.filter(({ kind }) => kind === "redelivered"),
    personalCause("started", actor, id),
    ...personal.filter(({ kind }) => kind === "started"),
  ].find((cause) => isStarter(person, cause));
};

/** Whether somebody may not decide on a run, because they started it or wrote what it runs. @param email of a person, with an account or without */
export async function isOwnWork(
  { approvalsByStarter, approvalsByAuthor }: EngineApi["policy"],
  read: AuthorshipReaders,
  email: string,
  run: RunRecord,
  remaining: Pick<RemainingWork, "workflows">,
): Promise<boolean> {
  const person: Person = { owner: email, keyName: "", lineage: email };
  if (!approvalsByStarter && findStart(person, run) !== undefined) return true;
  return !approvalsByAuthor && (await findAuthoredWork(read, person, run, remaining)) !== undefined;
}

/** Returns the first of the caller's own contributions to what takes part in a run; undefined for none. */
export async function findAuthoredWork(
  read: AuthorshipReaders,
  principal: Person,
  run: RunRecord,
  { workflows }: Pick<RemainingWork, "workflows">,
): Promise<AuthoredWork | undefined> {
  const versions = new Map<string, { workflowId: string; version: number }>();
  const add = (workflowId: string, version: number) =>
    versions.set(`${workflowId}@${version}`, { workflowId, version });
  for (const { workflow_id: id, version } of workflows) if (id !== null && version !== null) add(id, version);
  const definer = run.causes
    .filter(isDefiner)
    .find((cause) => isContributor(principal, { ...cause, subject: usageSubjectOf(cause) }));
  if (definer !== undefined) return { kind: definer.kind, runId: definer.by };
  for (let next: RunRecord | undefined = run; next !== undefined;) {
    // What was called before the question takes part too: the question may rest on its output.
    for (const [id, version] of Object.entries(next.pins ?? {})) add(id, version);
    next = next.parent === null ? undefined : await read.runs.find(next.parent.runId);
  }
  for (const { workflowId, version } of versions.values()) {
    const authorship = await read.workflows.authorship(workflowId, version);
    const contribution = unreviewedContribution(principal, version, authorship);
    if (contribution !== undefined) return { ...contribution, workflowId };
  }
  return undefined;
}
