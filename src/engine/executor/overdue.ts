/**
 * Raises alerts on what did not happen. Any executor may raise one: each lapse is raised once, in the transaction that records
 * the event and the mails.
 */
import type { Logger } from "pino";
import { OPERATOR } from "../../../schemas/actor.ts";
import { canonicalAddress } from "../../../schemas/mail-address.ts";
import { scopesIn } from "../../core/access.ts";
import { type Clock, isAgreed, iso } from "../../core/clock.ts";
import { accessOfOwner } from "../../core/owner-access.ts";
import type { Readers } from "../../core/ports.ts";
import type { EngineTransaction } from "../../core/run-ports.ts";
import type { ExpectationRecord, OutgoingEvent } from "../../core/subscription-ports.ts";

/** Workflows processed per poll. */
const BATCH_SIZE = 50;

interface Options {
  read: Pick<Readers, "expectations" | "workflows" | "users" | "projects">;
  transaction: EngineTransaction;
  clock: Clock;
  log: Pick<Logger, "warn">;
  mailEnabled: boolean;
}

/** @returns a function that raises the alerts that are due, and returns how many */
export function overdueAlerts({
  read,
  transaction,
  clock,
  log,
  mailEnabled,
}: Options): () => Promise<number> {
  return async () => {
    // With a wrong clock the other executors raise them.
    if (!isAgreed(clock)) return 0;
    let count = 0;
    for (const expectation of await read.expectations.due(iso(clock.now()), BATCH_SIZE))
      if (await raise(expectation)) count += 1;
    return count;
  };

  async function raise(expectation: ExpectationRecord): Promise<boolean> {
    const { workflowId, every, dueAt, succeededAt, version } = expectation;
    const project = await read.workflows.projectOf(workflowId);
    if (project === undefined) return false;
    const at = iso(clock.now());
    const event: OutgoingEvent = {
      type: "workflow.overdue",
      project,
      workflowId,
      runId: null,
      at,
      data: { every, due_at: dueAt, succeeded_at: succeededAt, version },
    };
    const recipients = mailEnabled ? await recipientsOf(expectation, project) : [];
    const raised = await transaction(async (tx) => {
      if (!(await tx.expectations.raiseAlert(expectation, at))) return false;
      await tx.outbox.record(event);
      await tx.outbox.recordMail(event, recipients);
      return true;
    });
    if (raised) log.warn({ workflow_id: workflowId, every, due_at: dueAt }, "workflow overdue");
    return raised;
  }

  /** Whom the definition names, and who published it, if they can still read the project. The operator has no address. */
  async function recipientsOf({ mail, publishedBy }: ExpectationRecord, project: string): Promise<string[]> {
    const access = publishedBy === OPERATOR ? undefined : await accessOfOwner(read, publishedBy);
    const publisher = access !== undefined && scopesIn(access, project).has("read") ? [publishedBy] : [];
    return [...new Set([...publisher, ...mail].map(canonicalAddress))];
  }
}
