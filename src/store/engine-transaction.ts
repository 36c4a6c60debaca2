/** The ports of the engine over one connection, and its transactions. */
import type { Kysely } from "kysely";
import type { Clock } from "../core/clock.ts";
import type { EngineReaders, EngineTransaction, EngineWriters } from "../core/run-ports.ts";
import type { TransactionScope } from "../core/transactions.ts";
import {
  approvalLinkReader,
  approvalLinkWriter,
  approvalMessageReader,
  approvalMessageWriter,
} from "./approval-delivery.ts";
import { approvalReader, approvalWriter } from "./approvals.ts";
import { backfillReader, backfillWriter } from "./backfills.ts";
import { backtestReader, backtestWriter } from "./backtests.ts";
import { bulkActionReader, bulkActionWriter } from "./bulk-actions.ts";
import type { NewWork, Store } from "./store.ts";
import { deliveryQueueReader, deliveryQueueWriter } from "./deliveries.ts";
import { expectationReader, expectationWriter } from "./expectations.ts";
import { keyNoticeReader, keyNoticeWriter } from "./key-notices.ts";
import { outboxWriter } from "./outbox.ts";
import { eventReader, eventWriter } from "./events.ts";
import { triggerDeliveryReader, triggerDeliveryWriter } from "./trigger-deliveries.ts";
import { interruptionReader, interruptionWriter } from "./interruptions.ts";
import { jobReader, jobWriter } from "./jobs.ts";
import { runWriter } from "./run-writer.ts";
import { runReader } from "./run-reader.ts";
import { scheduleReader, scheduleWriter } from "./schedules.ts";
import type { Schema } from "./schema.ts";
import { secretUseWriter } from "./secret-uses.ts";
import { type ByteCounter, byteCounter } from "./stored-bytes.ts";
import { triggerReader, triggerWriter } from "./triggers.ts";
import { usageReader, usageWriter } from "./usage.ts";
import { workflowStateReader, workflowStateWriter } from "./workflow-states.ts";

export const engineReaders = (db: Kysely<Schema>): EngineReaders => ({
  usage: usageReader(db),
  runs: runReader(db),
  jobs: jobReader(db),
  interruptions: interruptionReader(db),
  approvals: approvalReader(db),
  approvalLinks: approvalLinkReader(db),
  approvalMessages: approvalMessageReader(db),
  schedules: scheduleReader(db),
  workflowStates: workflowStateReader(db),
  events: eventReader(db),
  triggers: triggerReader(db),
  triggerDeliveries: triggerDeliveryReader(db),
  backfills: backfillReader(db),
  backtests: backtestReader(db),
  bulkActions: bulkActionReader(db),
  deliveryQueue: deliveryQueueReader(db),
  expectations: expectationReader(db),
  keyNotices: keyNoticeReader(db),
});

/** @param bytes flushed by the caller at the end of the transaction @param left see `Store.transaction` */
export const engineWriters = (
  trx: Kysely<Schema>,
  clock: Clock,
  bytes: ByteCounter,
  left: NewWork,
  scope: TransactionScope,
): EngineWriters => ({
  ...scope,
  usage: usageWriter(trx),
  runs: runWriter(trx, bytes),
  jobs: jobWriter(trx, clock, left),
  interruptions: interruptionWriter(trx, bytes),
  approvals: approvalWriter(trx, bytes),
  approvalLinks: approvalLinkWriter(trx),
  approvalMessages: approvalMessageWriter(trx),
  schedules: scheduleWriter(trx),
  workflowStates: workflowStateWriter(trx),
  events: eventWriter(trx, bytes),
  triggers: triggerWriter(trx),
  triggerDeliveries: triggerDeliveryWriter(trx, left),
  secretUses: secretUseWriter(trx, clock),
  backfills: backfillWriter(trx),
  backtests: backtestWriter(trx),
  bulkActions: bulkActionWriter(trx),
  outbox: outboxWriter(trx),
  deliveryQueue: deliveryQueueWriter(trx),
  expectations: expectationWriter(trx),
  keyNotices: keyNoticeWriter(trx),
});

/** Runs write transactions of the engine, which belong to no request. */
export function engineTransaction(store: Pick<Store, "transaction">, clock: Clock): EngineTransaction {
  return (work) =>
    withCommitHooks((begin) =>
      store.transaction(async (trx, left) => {
        const bytes = byteCounter(trx);
        const scope = { requestId: null, onCommit: begin() };
        const result = await work(engineWriters(trx, clock, bytes, left, scope));
        await bytes.flush();
        return result;
      }, "rows"),
    );
}

/**
 * Runs a transaction and, once it is committed, the callbacks that it has registered.
 * @param transact calls its argument whenever the transaction begins: what an aborted one has registered is dropped
 */
export async function withCommitHooks<T>(
  transact: (begin: () => TransactionScope["onCommit"]) => Promise<T>,
): Promise<T> {
  let callbacks: (() => void)[] = [];
  const result = await transact(() => {
    callbacks = [];
    return (callback) => void callbacks.push(callback);
  });
  for (const callback of callbacks) callback();
  return result;
}
