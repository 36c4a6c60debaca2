/** `millrace storage`: shows what each owner stores, prunes old versions, and computes the counts again. */
import { COMMAND_LINE } from "../../schemas/actor.ts";
import { iso } from "../core/clock.ts";
import { durationMs } from "../core/duration.ts";
import { newRequestId } from "../core/ids.ts";
import { PROJECT_SUBJECT } from "../core/usage-limits.ts";
import { largestStoredBytes, recountStoredBytes, storedBytesErrors } from "../store/stored-bytes.ts";
import { alignColumns } from "./columns.ts";
import { confirm, type ConfirmHost } from "./confirm.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import { OPERATOR_ACTOR, withOperator } from "./operator.ts";
import { plural } from "./plural.ts";
import { showProgress } from "./progress.ts";

/** Maximum number of owners that are listed. */
const MAX_OWNERS = 50;
/** Maximum number of workflows that a plan lists. */
const MAX_WORKFLOWS = 30;
const MIB = 1024 ** 2;

const inMib = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`;

/** Lists what owners store, the largest first. */
export async function showStorage(io: Io, { json }: { json?: boolean }): Promise<void> {
  await withOperator(io, { requiresStateFor: "show the storage of" }, async ({ instance }) => {
    const { read } = instance.store;
    const owners = await largestStoredBytes(read, "owners", MAX_OWNERS);
    const keys = new Map((await instance.keys.list()).map((key) => [key.lineage, key.name]));
    const named = owners.map(({ subject, bytes }) => {
      const key = keys.get(subject);
      const owner =
        subject === COMMAND_LINE
          ? "the command line"
          : key === undefined
            ? subject
            : `key ${key} of the operator`;
      return { owner, bytes };
    });
    const projects = (await largestStoredBytes(read, "projects", MAX_OWNERS)).map(({ subject, bytes }) => ({
      project: subject.slice(PROJECT_SUBJECT.length),
      bytes,
    }));
    if (json) return io.out(`${JSON.stringify([...named, ...projects], null, 2)}\n`);
    if (named.length === 0) return io.out("Nothing is stored.\n");
    const rows = [
      ...named.map(({ owner, bytes }) => [owner, inMib(bytes)]),
      ...projects.map(({ project, bytes }) => [`of these in the project ${project}`, inMib(bytes)]),
    ];
    const line = alignColumns(rows);
    for (const row of rows) io.out(`${line(row)}\n`);
  });
}

export interface PruneOptions {
  workflow?: string;
  keep: number;
  olderThan: string;
  dryRun?: boolean;
  yes?: boolean;
}

/** Shows which definitions of old versions would be deleted, and deletes them when the person at the terminal agrees. */
export async function pruneOldVersions(
  io: Io,
  host: ConfirmHost,
  { workflow, keep, olderThan, dryRun, yes }: PruneOptions,
): Promise<void> {
  const age = parseAge(olderThan);
  await withOperator(
    io,
    { requiresStateFor: "prune the versions of" },
    async ({ instance, services, setup }) => {
      const rule = { keep, before: iso(setup.clock.now() - age), workflowId: workflow };
      if (workflow !== undefined && (await services.read.workflows.find(workflow)) === undefined)
        throw new CommandError(`There is no workflow "${workflow}". Nothing was pruned.`);
      const plan = await services.read.workflows.prunable(rule);
      if (plan.length === 0) {
        return io.out(
          `No version can be pruned: each is one of the newest ${keep} of its workflow, younger than ${olderThan}, published, or used by a run or a schedule.\n`,
        );
      }
      for (const { workflowId, versions, bytes } of plan.slice(0, MAX_WORKFLOWS))
        io.out(
          `${workflowId}: ${plural(versions.length, "version")} (${rangeOf(versions)}), ${inMib(bytes)}\n`,
        );
      if (plan.length > MAX_WORKFLOWS) io.out(`and ${plan.length - MAX_WORKFLOWS} more workflows\n`);
      const count = plan.reduce((sum, { versions }) => sum + versions.length, 0);
      const bytes = plan.reduce((sum, one) => sum + one.bytes, 0);
      io.out(
        `${plural(count, "definition")} with ${inMib(bytes)} would be deleted; who changed what, when and why is kept.\n`,
      );
      if (dryRun) return;
      if (!yes) await confirm(host, "Delete them?", "pruned");
      let pruned = 0;
      const progress = showProgress(io, "Pruning", plan.length);
      try {
        for (const [index, { workflowId }] of plan.entries()) {
          progress.update(index, workflowId);
          const intent = { operation: "prune_versions", actor: OPERATOR_ACTOR, requestId: newRequestId() };
          // What was published or run since the plan is kept.
          const done = await services.write(intent, (tx) =>
            tx.workflows.pruneVersions({ ...rule, workflowId }),
          );
          pruned += done.versions.length;
        }
      } finally {
        progress.end();
      }
      instance.log.info({ versions: pruned }, "versions pruned");
      io.out(
        `${plural(pruned, "version")} pruned. The database file does not shrink; its space is used again.\n`,
      );
    },
  );
}

function parseAge(text: string): number {
  try {
    return durationMs(text);
  } catch {
    throw new CommandError(`--older-than must be a duration such as 30d, got ${text}.`, EXIT.usage);
  }
}

/** `1 to 7`, or `3`. */
const rangeOf = (versions: readonly number[]): string =>
  versions.length === 1 ? `${versions[0]}` : `${versions[0]} to ${versions.at(-1)}`;

/** Replaces the counts of what owners store by the sums of what is stored. */
export async function recountStorage(io: Io): Promise<void> {
  await withOperator(io, { requiresStateFor: "count the storage of" }, async ({ instance }) => {
    const { read, transaction } = instance.store;
    const wrong = await storedBytesErrors(read);
    if (wrong.length === 0) return io.out("All counts are right.\n");
    await transaction(recountStoredBytes);
    io.out(`${plural(wrong.length, "count")} corrected.\n`);
  });
}
