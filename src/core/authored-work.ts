/** Finds the work of a person among what an approval decides on: their own, as long as nobody else has reviewed it. */
import { OPERATOR } from "../../schemas/actor.ts";
import { type Contribution, isContributor, unreviewedContribution } from "./authorship.ts";
import type { EngineApi, RemainingWork } from "./engine-port.ts";
import type { RunActor, RunRecord } from "./model.ts";
import type { Principal } from "./principal.ts";
import type { WorkflowReader } from "./workflow-ports.ts";
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

export const isStarter = (
  person: Pick<Person, "owner" | "lineage">,
  starter: Pick<RunActor, "owner" | "lineage">,
): boolean =>
  person.owner === starter.owner && (person.owner !== OPERATOR || person.lineage === starter.lineage);

/** Whether somebody may not decide on a run, because they started it or wrote what it runs. @param email of a person with an account */
export async function isOwnWork(
  { approvalsByStarter, approvalsByAuthor }: EngineApi["policy"],
  read: AuthorshipReaders,
  email: string,
  run: RunRecord,
  remaining: Pick<RemainingWork, "workflows">,
): Promise<boolean> {
  const person: Person = { owner: email, keyName: "", lineage: email };
  if (!approvalsByStarter && isStarter(person, run.actor)) return true;
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
  for (let next: RunRecord | undefined = run; next !== undefined;) {
    // What was called before the question takes part too: the question may rest on its output.
    for (const [id, version] of Object.entries(next.pins ?? {})) add(id, version);
    const patch = await ownPatch(read.runs, principal, next);
    if (patch !== undefined) return patch;
    next = next.parent === null ? undefined : await read.runs.find(next.parent.runId);
  }
  for (const { workflowId, version } of versions.values()) {
    const authorship = await read.workflows.authorship(workflowId, version);
    const contribution = unreviewedContribution(principal, version, authorship);
    if (contribution !== undefined) return { ...contribution, workflowId };
  }
  return undefined;
}

/** Finds the run in which the caller changed the definition or wrote the step, among a run and those that it retries. */
async function ownPatch(
  runs: AuthorshipReaders["runs"],
  principal: Person,
  run: RunRecord,
): Promise<AuthoredWork | undefined> {
  // A retry keeps the own definition of the run that it repeats.
  for (let next: RunRecord | undefined = run; next !== undefined && next.definition !== null;) {
    const { actor } = next;
    if (isContributor(principal, { ...actor, subject: usageSubjectOf(actor) }))
      return { kind: next.workflowId === null ? "step" : "patched", runId: next.id };
    next = next.retryOf === null ? undefined : await runs.find(next.retryOf);
  }
  return undefined;
}
