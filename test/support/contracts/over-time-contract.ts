/** What backfills and the state of workflows promise to callers at the same time: src/core/backfill-ports.ts, workflow-state-ports.ts. */
import { describe, expect, it } from "vitest";
import type { BackfillRecord } from "../../../src/core/backfill-ports.ts";
import { HOUR, iso } from "../../../src/core/clock.ts";
import type { WriteIntent } from "../../../src/core/ports.ts";
import type { StateChange } from "../../../src/core/workflow-state-ports.ts";
import { newRun, SET_BY_HAND } from "../run-records.ts";
import {
  ACTOR,
  concurrently,
  type ContractConnection,
  type ContractSetup,
  createWorkflow,
  pause,
} from "./setup.ts";

const INTENT: WriteIntent = { operation: "create_workflow", actor: ACTOR, requestId: "req_1" };

const FIRST = Date.parse("2026-11-21T01:00:00.000Z");
const TOTAL = 24;
/** The scheduled time with a number; null after the last one. */
const timeOf = (number: number): string | null => (number < TOTAL ? iso(FIRST + number * HOUR) : null);

const backfillOf = (id: string, workflowId: string, subject = "key_1"): BackfillRecord => ({
  id,
  workflowId,
  project: "default",
  version: 1,
  cron: "0 * * * *",
  timezone: "UTC",
  from: timeOf(0)!,
  to: timeOf(TOTAL - 1)!,
  concurrency: 2,
  existing: "skip",
  status: "running",
  nextAt: timeOf(0),
  total: TOTAL,
  started: 0,
  skipped: 0,
  reason: null,
  message: null,
  actor: { owner: "operator", keyName: "ci", lineage: subject, surface: "rest", client: "vitest" },
  createdAt: timeOf(0)!,
  finishedAt: null,
  cancelledBy: null,
});

async function open(setup: ContractSetup) {
  const database = await setup(3);
  const [first] = database.connections as [ContractConnection];
  const { id } = await first.write(INTENT, createWorkflow);
  return { database, first, workflowId: id };
}

/** Starts the next run as an executor does. @returns whether it has started one */
const startNext = ({ transaction }: ContractConnection, id: string): Promise<boolean> =>
  transaction(async (tx) => {
    const backfill = await tx.backfills.lock(id);
    if (backfill?.status !== "running" || backfill.nextAt === null) return false;
    if ((await tx.backfills.unfinishedRuns(id)).length >= backfill.concurrency) return false;
    await pause();
    const time = backfill.nextAt;
    const nextAt = timeOf((Date.parse(time) - FIRST) / HOUR + 1);
    if (!(await tx.backfills.advance(id, time, { nextAt, started: 1, skipped: 0 }))) return false;
    await tx.runs.insert(
      newRun(`run_${time}`, {
        workflowId: backfill.workflowId,
        trigger: "backfill",
        backfill: id,
        scheduledFor: time,
        createdAt: time,
      }),
    );
    return true;
  });

const CANCELLED = { status: "cancelled", message: null, finishedAt: timeOf(0)!, cancelledBy: "ann" } as const;

const count = (results: readonly boolean[]): number => results.filter(Boolean).length;

export function overTimeContract(setup: ContractSetup): void {
  describe("a backfill", () => {
    it("never has more unfinished runs than its concurrency, whichever copy continues it", async () => {
      const { database, first, workflowId } = await open(setup);
      await first.transaction((tx) => tx.backfills.insert(backfillOf("bf_1", workflowId)));
      const started = await concurrently(database, 9, (connection) => startNext(connection, "bf_1"));
      expect(count(started)).toBe(2);
      expect(await first.read.backfills.unfinishedRuns("bf_1")).toHaveLength(2);
      expect(await first.read.backfills.find("bf_1")).toMatchObject({ started: 2, nextAt: timeOf(2) });
    });

    it("is advanced from one time by one of several callers, and counts what each of them did", async () => {
      const { database, first, workflowId } = await open(setup);
      await first.transaction((tx) => tx.backfills.insert(backfillOf("bf_1", workflowId)));
      for (let number = 0; number < 3; number += 1) {
        const advanced = await concurrently(database, 6, ({ transaction }, caller) =>
          transaction((tx) =>
            tx.backfills.advance("bf_1", timeOf(number)!, {
              nextAt: timeOf(number + 1),
              started: caller % 2,
              skipped: 1 - (caller % 2),
            }),
          ),
        );
        expect(count(advanced)).toBe(1);
      }
      const { started, skipped, nextAt } = (await first.read.backfills.find("bf_1"))!;
      expect([started + skipped, nextAt]).toEqual([3, timeOf(3)]);
    });

    it("starts nothing after it was cancelled, and one caller of several has cancelled it", async () => {
      const { database, first, workflowId } = await open(setup);
      for (let round = 0; round < 5; round += 1) {
        const id = `bf_${round}`;
        const startedBefore = await first.read.runs.count({});
        await first.transaction((tx) =>
          tx.backfills.insert({ ...backfillOf(id, workflowId), concurrency: 9, nextAt: timeOf(round * 4) }),
        );
        // What a caller sees directly after its cancellation stays as it is.
        const seen: number[] = [];
        const results = await concurrently(database, 6, async (connection, caller) => {
          if (caller % 2 === 0) return startNext(connection, id);
          const ended = await connection.transaction((tx) => tx.backfills.endRunning(id, CANCELLED));
          if (ended) seen.push((await connection.read.backfills.find(id))!.started);
          return ended;
        });
        const { status, started } = (await first.read.backfills.find(id))!;
        expect(status).toBe("cancelled");
        expect(seen).toEqual([started]);
        expect(count(results)).toBe(started + 1);
        expect((await first.read.runs.count({})) - startedBefore).toBe(started);
      }
    });

    it("is one of no more than the limit that its owner may have running", async () => {
      const { database, first, workflowId } = await open(setup);
      const limit = 2;
      const results = await concurrently(database, 7, ({ transaction }, caller) =>
        transaction(async (tx) => {
          // Owners do not wait for each other.
          const subject = caller === 6 ? "key_2" : "key_1";
          if ((await tx.backfills.countRunning(subject)) >= limit) return false;
          await pause();
          await tx.backfills.insert(backfillOf(`bf_${caller}`, workflowId, subject));
          return true;
        }),
      );
      expect(count(results.slice(0, 6))).toBe(limit);
      expect(results[6]).toBe(true);
      expect(await first.read.backfills.running(10)).toHaveLength(limit + 1);
    });
  });

  describe("the state of a workflow that runs commit while somebody resets it", () => {
    const RESET: StateChange = { kind: "reset", keyName: "ci", reason: "Start again." };

    it("has one history, in which each change begins where the one before it ended", async () => {
      const { database, first, workflowId } = await open(setup);
      const read = (connection: ContractConnection) => connection.read.workflowStates.find(workflowId);
      const writers = 9;
      await concurrently(database, writers, async (connection, writer) => {
        const isReset = writer % 3 === 0;
        for (let isWritten = false; !isWritten;) {
          const stored = await read(connection);
          await pause();
          const last = isReset ? 0 : Number(stored?.values["last"] ?? 0) + 1;
          isWritten = await connection.transaction((tx) =>
            tx.workflowStates.replace(
              workflowId,
              stored?.revision ?? 1,
              {
                values: { last, writer },
                updatedAt: timeOf(0)!,
                updatedBy: `run_${writer}`,
                change: isReset ? RESET : SET_BY_HAND,
              },
              "key_1",
            ),
          );
        }
      });
      expect((await read(first))!.revision).toBe(writers + 1);
      const history = await first.read.workflowStates.history({ workflowId, before: null, limit: 100 });
      const oldest = history.toReversed();
      expect(oldest.map(({ revision }) => revision)).toEqual(
        Array.from({ length: writers }, (_, index) => index + 2),
      );
      let last: unknown;
      for (const { kind, changes } of oldest) {
        // A reset of 0 to 0 changes the writer only.
        const change = changes.find(({ key }) => key === "last") ?? { before: last, after: last };
        expect(change.before).toBe(last);
        expect(change.after).toBe(kind === "reset" ? 0 : Number(last ?? 0) + 1);
        last = change.after;
      }
    });

    it("refuses the commit of a run that read it before a reset, which then stays in force", async () => {
      const { database, first, workflowId } = await open(setup);
      const replace = (connection: ContractConnection, last: number, change: StateChange) =>
        connection.transaction(async (tx) => {
          await pause();
          const values = { last };
          const state = { values, updatedAt: timeOf(0)!, updatedBy: `run_${last}`, change };
          return tx.workflowStates.replace(workflowId, 2, state, "key_1");
        });
      await first.transaction((tx) =>
        tx.workflowStates.replace(
          workflowId,
          1,
          { values: { last: 7 }, updatedAt: timeOf(0)!, updatedBy: "run_7", change: SET_BY_HAND },
          "key_1",
        ),
      );
      const results = await concurrently(database, 6, (connection, writer) =>
        replace(connection, writer === 0 ? 0 : 7 + writer, writer === 0 ? RESET : SET_BY_HAND),
      );
      expect(count(results)).toBe(1);
      const stored = await first.read.workflowStates.find(workflowId);
      const winner = results.indexOf(true);
      expect(stored).toMatchObject({ revision: 3, values: { last: winner === 0 ? 0 : 7 + winner } });
    });
  });
}
