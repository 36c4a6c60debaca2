/** What the engine reads and writes, put together over one connection. */
import type { Kysely } from "kysely";
import type { EngineReaders, EngineTransaction, EngineWriters } from "../core/run-ports.ts";
import { approvalReader, approvalWriter } from "./approvals.ts";
import type { Store } from "./database.ts";
import { jobReader, jobWriter } from "./jobs.ts";
import { runWriter } from "./run-writer.ts";
import { runReader } from "./runs.ts";
import { scheduleReader, scheduleWriter } from "./schedules.ts";
import type { Schema } from "./schema.ts";

export const engineReaders = (db: Kysely<Schema>): EngineReaders => ({
  runs: runReader(db),
  jobs: jobReader(db),
  approvals: approvalReader(db),
  schedules: scheduleReader(db),
});

export const engineWriters = (trx: Kysely<Schema>): EngineWriters => ({
  runs: runWriter(trx),
  jobs: jobWriter(trx),
  approvals: approvalWriter(trx),
  schedules: scheduleWriter(trx),
});

/** One write transaction of the engine. */
export function engineTransaction(store: Pick<Store, "transaction">): EngineTransaction {
  return (work) => store.transaction((trx) => work(engineWriters(trx)));
}
