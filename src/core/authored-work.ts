/** Finds what a person has to do with what an approval decides on: that they caused the run, or wrote what it runs without a review by anybody else. */
import { OPERATOR } from "../../schemas/actor.ts";
import { type Contribution, isContributor, unreviewedContribution } from "./authorship.ts";
import type { EngineApi, RemainingWork } from "./engine-port.ts";
import { samePerson } from "./mailbox.ts";
import type { RunActor, RunCause, RunRecord, VersionRef } from "./model.ts";
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

/** How a person caused a run to start or to go on, themselves or by what it repeats; undefined where they did not. */
export const findStart = (
  person: Pick<Person, "owner" | "lineage">,
  { id, actor, causes }: Pick<RunRecord, "id" | "actor" | "causes">,
): PersonalCause | undefined => {
  const personal = causes.filter(isPersonal);
  // A redelivery says more than that the run belongs to them.
  return [
    ...personal.filter(({ kind }) => kind === "redelivered" || kind === "settled"),
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
  remaining: Pick<RemainingWork, "versions">,
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
  remaining: Pick<RemainingWork, "versions">,
): Promise<AuthoredWork | undefined> {
  const definer = run.causes
    .filter(isDefiner)
    .find((cause) => isContributor(principal, { ...cause, subject: usageSubjectOf(cause) }));
  if (definer !== undefined) return { kind: definer.kind, runId: definer.by };
  // What was called before the question takes part too, and what wrote the inputs: the question may rest on them.
  const inputs = run.causes.flatMap((cause) => (cause.kind === "inputs" ? cause.versions : []));
  const versions = [...remaining.versions, ...(await versionsIn(read.runs, run)), ...inputs];
  for (const { workflowId, version } of distinctVersions(versions)) {
    const authorship = await read.workflows.authorship(workflowId, version);
    const contribution = unreviewedContribution(principal, version, authorship);
    if (contribution !== undefined) return { ...contribution, workflowId };
  }
  return undefined;
}

/** The versions of a run and of the runs that wait for it, and all that they call. */
async function versionsIn(
  runs: Pick<RunReader, "find">,
  run: Pick<RunRecord, "workflowId" | "version" | "pins" | "parent">,
): Promise<VersionRef[]> {
  const found: VersionRef[] = [];
  for (let next: typeof run | undefined = run; next !== undefined;) {
    const { workflowId, version, pins, parent }: typeof run = next;
    if (workflowId !== null) found.push({ workflowId, version });
    for (const [id, pinned] of Object.entries(pins ?? {})) found.push({ workflowId: id, version: pinned });
    next = parent === null ? undefined : await runs.find(parent.runId);
  }
  return distinctVersions(found);
}

const distinctVersions = (versions: readonly VersionRef[]): VersionRef[] => [
  ...new Map(versions.map((ref) => [`${ref.workflowId}@${ref.version}`, ref])).values(),
];

/** What a run that wrote the inputs of another one, which it does not wait for, leaves as a cause of that one. */
export const inputsCause = async (
  runs: Pick<RunReader, "find">,
  run: Pick<RunRecord, "id" | "workflowId" | "version" | "pins" | "parent">,
): Promise<RunCause> => ({ kind: "inputs", by: run.id, versions: await versionsIn(runs, run) });
