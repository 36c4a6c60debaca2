/** `millrace keys changes` and `keys revert`: what a key changed since a moment, and its revert. */
import {
  countReverted,
  describeChange,
  describeCounts,
  describeNotReverted,
  describeOperation,
  isNothing,
} from "../../schemas/key-change-words.ts";
import type { KeyChanges } from "../../schemas/key-changes.ts";
import { getKeyChanges } from "../../tools/key-changes/get-key-changes.ts";
import { revertKeyChanges } from "../../tools/key-changes/revert-key-changes.ts";
import { DAY, HOUR, iso, MINUTE, systemClock } from "../core/clock.ts";
import { confirm, type ConfirmHost } from "./confirm.ts";
import { CommandError, EXIT, type Io, paint } from "./io.ts";
import { findKey } from "./keys.ts";
import { withOperator } from "./operator.ts";

export interface KeyChangesOptions {
  since: string;
  client?: string;
  includeLater?: boolean;
  config?: string;
  json?: boolean;
}

export interface RevertOptions extends KeyChangesOptions {
  workflow?: string[];
  subscription?: string[];
  rotateTriggers?: boolean;
  breakCaller?: string[];
  dryRun?: boolean;
  yes?: boolean;
}

/** Lists what a key changed, and what a revert would do. */
export async function showKeyChanges(io: Io, which: string, options: KeyChangesOptions): Promise<void> {
  const { config } = options;
  const found = await withOperator(
    io,
    { config, requiresStateFor: "list changes of" },
    async ({ instance, call }) =>
      call<KeyChanges>(getKeyChanges, {
        key_id: (await findKey(instance.keys, which)).id,
        ...queryOf(options),
      }),
  );
  if (options.json) return io.out(`${JSON.stringify(found, null, 2)}\n`);
  printChanges(io, found);
}

/** Reverts what a key changed, after the operator has seen and confirmed it. */
export async function revertKey(
  io: Io,
  host: ConfirmHost,
  which: string,
  options: RevertOptions,
): Promise<void> {
  const { config, workflow: workflows, subscription: subscriptions, breakCaller, rotateTriggers } = options;
  await withOperator(io, { config }, async ({ instance, call }) => {
    const input = {
      key_id: (await findKey(instance.keys, which)).id,
      ...queryOf(options),
      ...(workflows !== undefined && { workflows }),
      ...(subscriptions !== undefined && { subscriptions }),
      ...(rotateTriggers === true && { rotate_triggers: true }),
      ...(breakCaller !== undefined && { break_callers: breakCaller }),
    };
    if (options.dryRun || !options.yes) {
      const planned = await call<KeyChanges>(revertKeyChanges, { ...input, dry_run: true });
      if (!options.json) printChanges(io, planned);
      if (options.dryRun) return options.json ? io.out(`${JSON.stringify(planned, null, 2)}\n`) : undefined;
      const all = [...planned.workflows, ...planned.subscriptions, ...planned.triggers];
      if (!all.some(({ outcome }) => outcome === "revertible")) return;
      await confirm(host, "Revert this?", "reverted");
    }
    const done = await call<KeyChanges>(revertKeyChanges, input);
    if (options.json) return io.out(`${JSON.stringify(done, null, 2)}\n`);
    if (options.yes) printChanges(io, done);
    const { workflows: changed, subscriptions: subscribed, triggers } = done;
    const counts = {
      workflows: countReverted(changed),
      subscriptions: countReverted(subscribed),
      triggers: countReverted(triggers),
    };
    io.out(`${describeCounts(counts)} reverted.\n`);
  });
}

const queryOf = ({ since, client, includeLater = false }: KeyChangesOptions) => ({
  since: parseSince(since),
  ...(client !== undefined && { client }),
  include_later: includeLater,
});

const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: HOUR, d: DAY };

/** Parses `24h` as a time before now, and leaves dates and times as they are. */
function parseSince(text: string): string {
  const [, amount, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  if (amount !== undefined) return iso(systemClock.now() - Number(amount) * UNITS[unit!]!);
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new CommandError(
    `--since must be a time or how long ago, got ${text}. Write 2026-11-21, 2026-11-21T08:00:00Z, 30m, 24h or 7d.`,
    EXIT.usage,
  );
}

interface Listed {
  outcome: string;
  effects: readonly string[];
  reason: { message: string } | null;
  remains?: readonly string[];
}

function printChanges(io: Io, found: KeyChanges): void {
  const { bold, dim, yellow } = paint(io);
  const { key, workflows, subscriptions, triggers } = found;
  const print = (head: string, { outcome, effects, reason, remains = [] }: Listed): void => {
    io.out(`${head}\n`);
    for (const effect of effects) io.out(`  → ${effect}\n`);
    if (reason !== null) io.out(yellow(`  skipped: ${reason.message}\n`));
    for (const text of remains) io.out(yellow(`  in force: ${text}\n`));
    if (outcome === "unchanged") io.out(dim("  nothing to revert\n"));
  };
  io.out(`${bold(key.name)} (${key.id}) of ${key.owner}, since ${found.since}:\n\n`);
  if (isNothing(found))
    io.out(
      "No record says that it changed anything. Of states of workflows, only changes by runs that are still kept are on record.\n",
    );
  else if (
    [workflows, subscriptions, triggers].every(({ length }) => length === 0) &&
    found.already_reverted > 0
  )
    io.out("All that can be reverted is reverted.\n");
  for (const workflow of workflows)
    print(`${bold(workflow.workflow_id)}  ${workflow.changes.map(describeChange).join(", ")}`, workflow);
  for (const subscription of subscriptions) {
    const { subscription_id: id, name, changes } = subscription;
    const named = name === null ? "" : ` ${JSON.stringify(name)}`;
    print(`${bold(id)}${named}  ${changes.map(describeOperation).join(", ")}`, subscription);
  }
  for (const trigger of triggers) {
    const label = describeOperation({ label: "replaced its URL", count: trigger.count });
    print(`${bold(`${trigger.workflow_id}/${trigger.trigger}`)}  ${label}`, trigger);
  }
  io.out("\n");
  if (found.not_reverted.length > 0) io.out("Not reverted:\n");
  for (const operation of found.not_reverted)
    io.out(`  ${describeNotReverted(operation)}\n${dim(`    ${operation.remains}\n`)}`);
  if (found.unseen > 0)
    io.out(yellow(`${found.unseen} more in projects that you can't see; ask an admin to look\n`));
  if (found.remaining > 0)
    io.out(
      dim(`${found.remaining} more; revert these first, or name some with --workflow and --subscription\n`),
    );
  if (found.attribution === "name")
    io.out(
      dim(
        "Some changes are matched by the names of owner and key, because an older release recorded them.\n",
      ),
    );
  if (found.records_since !== null)
    io.out(dim(`The audit log does not reach back to that time: it begins at ${found.records_since}.\n`));
}
