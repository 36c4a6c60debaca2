/** Invariants over several rows that concurrent transactions read, decide on and change. */
import { describe, expect, it } from "vitest";
import { iso } from "../../../src/core/clock.ts";
import type { NewJob, NewRun } from "../../../src/core/model.ts";
import type { WriteIntent } from "../../../src/core/ports.ts";
import { StepStates } from "../../../src/core/step-states.ts";
import { testUser } from "../accounts.ts";
import { newRun as runRecord } from "../run-records.ts";
import {
  ACTOR,
  concurrently,
  type ContractConnection,
  type ContractSetup,
  createWorkflow,
  pause,
} from "./setup.ts";

const intent = (operation: string): WriteIntent => ({ operation, actor: ACTOR, requestId: "req_1" });
const READ = intent("read");

const newRun = (id: string, fields: Partial<NewRun> = {}): NewRun =>
  runRecord(id, {
    workflowId: "weekly-revenue",
    status: "running",
    stepStates: new StepStates(["running"]),
    ...fields,
  });

const newJob = (stepId: string): NewJob => ({
  runId: "run_1",
  stepId,
  item: null,
  kind: "step",
  priority: 0,
  dueAt: null,
  resource: null,
  attempt: 1,
  retryCount: 1,
});

/** Opens a database with a workflow and some runs of it. */
async function withRuns(setup: ContractSetup, connections: number, ids: readonly string[]) {
  const database = await setup(connections);
  const [first, second] = database.connections as [ContractConnection, ContractConnection];
  await first.write(intent("create_workflow"), createWorkflow);
  await first.transaction(async (tx) => {
    for (const id of ids) await tx.runs.insert(newRun(id));
  });
  return { database, first, second };
}

/** What `EngineTransaction` and `UnitOfWork` promise beyond the rows that one statement changes. */
export function lockingContract(setup: ContractSetup): void {
  describe("concurrent transactions", () => {
    it("give workflows that are created with one name an id each", async () => {
      const database = await setup(3);
      const ids = await concurrently(database, 6, async ({ write }) => {
        const { id } = await write(intent("create_workflow"), createWorkflow);
        return id;
      });
      const expected = ["weekly-revenue", ...[2, 3, 4, 5, 6].map((number) => `weekly-revenue-${number}`)];
      expect(ids.toSorted()).toEqual(expected);
    });

    it("count the bookmarks of a person together with those that others add meanwhile", async () => {
      const database = await setup(3);
      const counts = await concurrently(database, 6, ({ write }, caller) =>
        write(intent("update_bookmarks"), async ({ bookmarks }) => {
          await bookmarks.lock("ann@example.com");
          const { length } = await bookmarks.views("ann@example.com");
          await pause();
          const view = { page: "runs", name: `View ${caller}`, query: "" } as const;
          await bookmarks.saveView("ann@example.com", view, "2026-11-21T08:00:00.000Z");
          return length;
        }),
      );
      expect(counts.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5]);
    });

    it("number the versions of a workflow without gaps, and lose none of the changes", async () => {
      const database = await setup(3);
      const [first] = database.connections as [ContractConnection];
      const { id } = await first.write(intent("create_workflow"), createWorkflow);
      await concurrently(database, 6, ({ write }, caller) =>
        write(intent("update_workflow"), async (tx) => {
          const current = (await tx.workflows.find(id))!;
          await pause();
          const next = { ...current, tags: [...current.tags, `tag-${caller}`] };
          await tx.workflows.addVersion(current, next, { kind: "updated", reason: null, actor: ACTOR });
        }),
      );
      const workflow = await first.write(READ, (tx) => tx.workflows.find(id));
      expect(workflow!.version).toBe(7);
      expect(workflow!.tags.toSorted()).toEqual([0, 1, 2, 3, 4, 5].map((caller) => `tag-${caller}`));
    });

    it("leave one admin when two take the role from each other", async () => {
      const database = await setup(2);
      const [first] = database.connections as [ContractConnection];
      const admins = ["ann", "ben"].map((name) => testUser(name, { role: "admin" }));
      await first.write(intent("invite_user"), async (tx) => {
        for (const admin of admins) await tx.users.insert(admin);
      });
      const changed = await concurrently(database, 2, ({ write }, caller) =>
        write(intent("update_user"), async (tx) => {
          if ((await tx.users.countActiveAdmins()) < 2) return false;
          await pause();
          await tx.users.update(admins[caller]!.id, { role: "editor" });
          return true;
        }),
      );
      expect(changed.filter(Boolean)).toHaveLength(1);
    });

    it("repeat an effect that has refused and hidden the lock that it needs, and keep nothing of its first run", async () => {
      const database = await setup(1);
      const [first] = database.connections as [ContractConnection];
      const inserted = await first.write(intent("invite_user"), async (tx) => {
        await tx.usage.add("key_1", "rows", 1, 1);
        return tx.users.insert(testUser("ann", { role: "admin" })).then(
          () => true,
          () => false,
        );
      });
      expect(inserted).toBe(true);
      expect(await first.read.usage.usedInWindow("key_1", "rows", 1)).toBe(1);
    });

    it("count every item of a fan-out once", async () => {
      const { database, first } = await withRuns(setup, 3, ["run_1"]);
      const step = { runId: "run_1", stepId: "each", item: null };
      await concurrently(database, 15, ({ transaction }, item) =>
        transaction(async (tx) => {
          const run = (await tx.runs.lock("run_1"))!;
          const items = (await tx.runs.step(step))?.items;
          await pause();
          const seq = run.seq + 1;
          await tx.runs.saveStep({ ...step, item }, { seq, state: "succeeded" });
          const done = (items?.done ?? 0) + 1;
          await tx.runs.saveStep(step, {
            seq,
            state: "running",
            items: { total: 15, started: 15, done, failed: 0, bytes: 0 },
          });
          await tx.runs.update("run_1", { seq });
        }),
      );
      expect((await first.read.runs.step(step))!.items!.done).toBe(15);
    });

    it("let one of a parent that ends and a child that starts come first", async () => {
      const { first, second } = await withRuns(setup, 2, ["run_1"]);
      const ended = first.transaction(async (tx) => {
        const run = (await tx.runs.lock("run_1"))!;
        await pause();
        if (await tx.runs.hasUnfinishedChildren("run_1")) return false;
        await tx.runs.update("run_1", { seq: run.seq + 1, status: "succeeded", finishedAt: run.createdAt });
        return true;
      });
      const started = second.transaction(async (tx) => {
        const run = (await tx.runs.lock("run_1"))!;
        await pause();
        if (run.finishedAt !== null) return false;
        await tx.runs.insert(newRun("run_2", { parent: { runId: "run_1", stepId: "a", item: null } }));
        return true;
      });
      expect((await Promise.all([ended, started])).filter(Boolean)).toHaveLength(1);
    });

    it("all succeed when they lock runs in opposite orders", async () => {
      const ids = ["run_1", "run_2"];
      const { database, first } = await withRuns(setup, 3, ids);
      let committed = 0;
      await concurrently(database, 6, ({ transaction }, caller) =>
        transaction(async (tx) => {
          tx.onCommit(() => (committed += 1));
          for (const id of caller % 2 === 0 ? ids : ids.toReversed()) {
            const run = (await tx.runs.lock(id))!;
            await pause();
            await tx.runs.update(id, { seq: run.seq + 1 });
          }
        }),
      );
      expect(committed).toBe(6);
      const summaries = await first.read.runs.getStatusSummaries(ids);
      expect(summaries.map(({ seq }) => seq)).toEqual([6, 6]);
    });

    it("leave no claim to an executor that is reclaimed at the same time", async () => {
      const database = await setup(3);
      const [first] = database.connections as [ContractConnection];
      const options = {
        now: iso(database.clock.now()),
        limit: 8,
        limits: new Map<string, number>(),
        quarantined: "skip",
      } as const;
      for (let round = 0; round < 5; round += 1) {
        await first.transaction((tx) => tx.jobs.heartbeat("exe_1", options.now));
        const [held] = await first.transaction(async (tx) => {
          await tx.jobs.add(newJob(`step_${round}`));
          return tx.jobs.claim("exe_1", options);
        });
        await concurrently(database, 4, ({ transaction }, caller) =>
          transaction(async (tx) => {
            if (caller % 2 === 1) await tx.jobs.reclaim("exe_1");
            else if (caller === 0) await tx.jobs.claim("exe_1", options);
            else if (await tx.jobs.complete(held!, "exe_1")) {
              await tx.jobs.add(newJob(`next_${round}`));
              await tx.jobs.claimSuccessor(held!, "exe_1");
            }
          }),
        );
        const { claimed } = await first.read.jobs.depth();
        const executors = await first.read.jobs.executors();
        expect(claimed === 0 || executors.some(({ id }) => id === "exe_1")).toBe(true);
        await first.transaction((tx) => tx.jobs.reclaim("exe_1"));
        expect((await first.read.jobs.depth()).claimed).toBe(0);
      }
    });
  });
}
