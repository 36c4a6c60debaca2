import { describe, expect, it } from "vitest";
import { DEFAULT_PROJECT } from "../../../schemas/project.ts";
import { accessEverywhere } from "../../../src/core/access.ts";
import { FIRST_DECIDES, type PersonDecision, tally } from "../../../src/core/approval-rules.ts";
import { DAY, HOUR, iso } from "../../../src/core/clock.ts";
import { AppError } from "../../../src/core/errors.ts";
import type { ApprovalRecord, NewRun, ScheduleRecord } from "../../../src/core/model.ts";
import type { Actor, WriteIntent, Writers } from "../../../src/core/ports.ts";
import { StepStates } from "../../../src/core/step-states.ts";
import type { NewTriggerDelivery } from "../../../src/core/trigger-ports.ts";
import { testUser } from "../accounts.ts";
import { newRun as runRecord, SET_BY_HAND } from "../run-records.ts";
import {
  concurrently,
  type ContractConnection,
  type ContractDatabase,
  type ContractSetup,
  pause,
} from "./setup.ts";
import { quietTime } from "../eventually.ts";

const ACTOR: Actor = {
  principal: {
    kind: "key",
    keyId: "key_1",
    keyName: "ci",
    owner: "operator",
    lineage: "key_1",
    scopes: new Set(["write"]),
    access: accessEverywhere(["write"]),
  },
  client: { surface: "rest", name: "vitest" },
};

const INTENT: WriteIntent = { operation: "create_workflow", actor: ACTOR, requestId: "req_1" };

const pendingApproval = (createdAt: string): ApprovalRecord => ({
  id: "apr_1",
  project: "default",
  runId: "run_1",
  workflowId: "weekly-revenue",
  stepId: "ask",
  item: null,
  status: "pending",
  message: "Send it?",
  form: null,
  assignees: [],
  createdAt,
  expiresAt: null,
  decidedAt: null,
  decidedBy: null,
  comment: null,
  answer: null,
  plan: null,
  rules: FIRST_DECIDES,
  decisions: [],
  events: [],
  evidence: null,
  delivery: { byLink: false, chat: [] },
  decidedVia: null,
});

/** A decision of a person for the plan "plan". */
const decisionOf = (person: string, seat = person): PersonDecision => ({
  person,
  seat,
  name: person,
  approved: true,
  override: false,
  comment: null,
  answer: null,
  decidedAt: "2026-11-21T08:00:00.000Z",
  planDigest: "plan",
});

const newDelivery = (id: string, receivedAt: string): NewTriggerDelivery => ({
  id,
  triggerId: "trg_1",
  workflowId: "weekly-revenue",
  receivedAt,
  status: "received",
  runId: `run_of_${id}`,
  key: "the same",
  senderId: "msg_1",
  code: null,
  reason: null,
  bytes: 2,
  redeliveryOf: null,
  redeliveredBy: null,
  isSigned: true,
  event: { body: {}, headers: {}, query: {} },
});

const newRefusal = (index: number, code: string): NewTriggerDelivery => ({
  ...newDelivery(`trd_${code}_${index}`, `2026-11-21T08:00:${String(index).padStart(2, "0")}.000Z`),
  status: "refused",
  key: null,
  code,
  event: null,
});

const newRun = (id: string, workflowId: string, createdAt: string): NewRun =>
  runRecord(id, { workflowId, createdAt, stepStates: new StepStates(["queued", "queued"]) });

const written = (last_id: number, updatedAt: string) => ({
  values: { last_id },
  updatedAt,
  updatedBy: "run_1",
});

const createWorkflow = (tx: Writers) =>
  tx.workflows.insert(
    { name: "Weekly revenue", description: "", tags: [], definition: null },
    { kind: "created", reason: null, actor: ACTOR },
  );

async function open(setup: ContractSetup) {
  const database: ContractDatabase = await setup(3);
  const [first, second] = database.connections as [ContractConnection, ContractConnection];
  const now = (): string => iso(database.clock.now());
  const workflow = await first.write(INTENT, createWorkflow);
  return {
    database,
    first,
    second,
    now,
    workflow,
    insertRun: (id: string, fields: Partial<NewRun> = {}) =>
      first.transaction((tx) => tx.runs.insert({ ...newRun(id, workflow.id, now()), ...fields })),
  };
}

const applied = (results: readonly boolean[]): number => results.filter(Boolean).length;

/** The guarantees of src/core/run-ports.ts and of `UnitOfWork`. */
export function storeContract(setup: ContractSetup): void {
  describe("a transaction", () => {
    it("runs its `onCommit` callbacks after a commit, and none after a rollback", async () => {
      const { first } = await open(setup);
      const followed: string[] = [];
      await first.transaction(async (tx) => {
        tx.onCommit(() => followed.push("committed"));
        expect(followed).toEqual([]);
      });
      const failing = first.transaction(async (tx) => {
        tx.onCommit(() => followed.push("rolled back"));
        throw new Error("no");
      });
      await expect(failing).rejects.toThrow("no");
      expect(followed).toEqual(["committed"]);
    });
  });

  describe("a locked run", () => {
    it("loses no update when several transactions update it at the same time", async () => {
      const { database, first, insertRun } = await open(setup);
      await insertRun("run_1");
      await concurrently(database, 12, ({ transaction }) =>
        transaction(async (tx) => {
          const run = (await tx.runs.lock("run_1"))!;
          await pause();
          await tx.runs.update("run_1", { seq: run.seq + 1 });
        }),
      );
      expect((await first.read.runs.find("run_1"))!.seq).toBe(12);
    });

    it("counts both of two steps that end together, and shows the second the state of the first", async () => {
      const { database, first, insertRun, now } = await open(setup);
      await insertRun("run_1");
      const seen = await concurrently(database, 2, ({ transaction }, position) =>
        transaction(async (tx) => {
          const run = (await tx.runs.lock("run_1"))!;
          await pause();
          const others = await tx.runs.steps("run_1");
          const stepStates = run.stepStates.with(position, "succeeded");
          const seq = run.seq + 1;
          const ref = { runId: "run_1", stepId: `step_${position}`, item: null };
          await tx.runs.saveStep(ref, { seq, state: "succeeded", finishedAt: now() });
          await tx.runs.update("run_1", { seq, stepStates });
          return { states: stepStates.list, recorded: others.length };
        }),
      );
      const all = ["succeeded", "succeeded"];
      expect((await first.read.runs.find("run_1"))!.stepStates.list).toEqual(all);
      expect(await first.read.runs.steps("run_1")).toHaveLength(2);
      // Exactly one of them has seen that all steps have ended, so the run ends once.
      const complete = seen.filter(({ states }) => states.every((state) => state === "succeeded"));
      expect(complete).toEqual([{ states: all, recorded: 1 }]);
    });

    it("is undefined when there is no such run", async () => {
      const { first } = await open(setup);
      expect(await first.transaction((tx) => tx.runs.lock("run_none"))).toBeUndefined();
    });
  });

  describe("the queue of a workflow's runs", () => {
    it("admits no more runs than its limit when several start at the same time", async () => {
      const { database, first, workflow, now } = await open(setup);
      const queue = { workflowId: workflow.id, project: DEFAULT_PROJECT };
      const limit = 3;
      await concurrently(database, 9, ({ transaction }, caller) =>
        transaction(async (tx) => {
          await tx.runs.lockQueue(workflow.id, "exclusive");
          const admitted = (await tx.runs.countActive(queue)) < limit;
          await pause();
          await tx.runs.insert({ ...newRun(`run_${caller}`, workflow.id, now()), admitted });
        }),
      );
      expect(await first.transaction((tx) => tx.runs.countActive(queue))).toBe(limit);
      expect(await first.read.runs.count({})).toBe(9);
    });

    it("hands each queued run to one of several transactions that admit", async () => {
      const { database, first, workflow, insertRun } = await open(setup);
      const queue = { workflowId: workflow.id, project: DEFAULT_PROJECT };
      for (const id of ["run_1", "run_2", "run_3"]) await insertRun(id, { admitted: false });
      const admitted = await concurrently(database, 5, ({ transaction }) =>
        transaction(async (tx) => {
          await tx.runs.lockQueue(workflow.id, "exclusive");
          const run = await tx.runs.nextQueued(queue, "");
          await pause();
          if (run !== undefined) await tx.runs.update(run.id, { seq: run.seq + 1, admitted: true });
          return run?.id;
        }),
      );
      expect(admitted.filter((id) => id !== undefined).toSorted()).toEqual(["run_1", "run_2", "run_3"]);
      expect(await first.transaction((tx) => tx.runs.countActive(queue))).toBe(3);
    });

    it("starts no more runs of one subject than its limit at the same time", async () => {
      const { database, first, workflow, now } = await open(setup);
      const limit = 2;
      const { actor } = newRun("", "", "");
      const started = await concurrently(database, 6, ({ transaction }, caller) =>
        transaction(async (tx) => {
          await tx.runs.lockStarts("key_1");
          if ((await tx.runs.countUnfinishedFor(actor)) >= limit) return false;
          await pause();
          await tx.runs.insert(newRun(`run_${caller}`, workflow.id, now()));
          return true;
        }),
      );
      expect(applied(started)).toBe(limit);
      expect(await first.read.runs.count({})).toBe(limit);
    });
  });

  describe("an idempotency key", () => {
    const intent: WriteIntent = { ...INTENT, idempotency: { key: "k", input: { name: "a" } } };

    it("takes effect once when many requests come at the same time, and gives all of them one result", async () => {
      const { database, first } = await open(setup);
      const results = await concurrently(database, 10, ({ write }) => write(intent, createWorkflow));
      expect(new Set(results.map(({ id }) => id)).size).toBe(1);
      expect(await first.write(INTENT, (tx) => tx.workflows.count({}))).toBe(2);
    });

    it("makes a second request wait for the first one, which is still running", async () => {
      const { first, second } = await open(setup);
      const started = Promise.withResolvers<void>();
      const finish = Promise.withResolvers<void>();
      const effects: string[] = [];
      const running = first.write(intent, async () => {
        effects.push("first");
        started.resolve();
        await finish.promise;
        return { by: "first" };
      });
      await started.promise;
      const repeated = second.write(intent, async () => {
        effects.push("second");
        return { by: "second" };
      });
      await quietTime(50);
      expect(effects).toEqual(["first"]);
      finish.resolve();
      expect(await Promise.all([running, repeated])).toEqual([{ by: "first" }, { by: "first" }]);
      expect(effects).toEqual(["first"]);
    });

    it("takes effect for the second request when the first one fails", async () => {
      const { first, second } = await open(setup);
      const started = Promise.withResolvers<void>();
      const finish = Promise.withResolvers<void>();
      const failing = first.write(intent, async () => {
        started.resolve();
        await finish.promise;
        throw new Error("the effect failed");
      });
      await started.promise;
      const repeated = second.write(intent, () => Promise.resolve({ by: "second" }));
      finish.resolve();
      await expect(failing).rejects.toThrow("the effect failed");
      expect(await repeated).toEqual({ by: "second" });
      expect(await first.write(intent, () => Promise.resolve({ by: "third" }))).toEqual({ by: "second" });
    });

    it("is refused with a different input, also of a request at the same time", async () => {
      const { database } = await open(setup);
      const effects = { count: 0 };
      const run = async (): Promise<number> => {
        await pause();
        effects.count += 1;
        return effects.count;
      };
      const codes = await concurrently(database, 4, ({ write }, caller) =>
        write({ ...INTENT, idempotency: { key: "k", input: { caller } } }, run).catch((error: unknown) =>
          error instanceof AppError ? error.code : error,
        ),
      );
      expect(codes.filter((code) => code === "idempotency_key_reused")).toHaveLength(3);
      expect(effects.count).toBe(1);
      database.clock.advance(DAY);
      await database.connections[0]!.write({ ...INTENT, idempotency: { key: "k", input: {} } }, run);
      expect(effects.count).toBe(2);
    });
  });

  describe("usage", () => {
    it("loses none of several adds at the same time", async () => {
      const { database, first } = await open(setup);
      const sums = await concurrently(database, 30, ({ transaction }) =>
        transaction((tx) => tx.usage.add("key_1", "rows", DAY, 3)),
      );
      expect(sums.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => 3 * (i + 1)));
      expect(await first.read.usage.usedInWindow("key_1", "rows", DAY)).toBe(90);
    });

    it("reserves no more than the limit when several reserve at the same time", async () => {
      const { database, first } = await open(setup);
      const reserved = await concurrently(database, 12, ({ transaction }) =>
        transaction((tx) => tx.usage.reserve("key_1", "runs", HOUR, { amount: 2, max: 9 })),
      );
      expect(applied(reserved)).toBe(4);
      expect(await first.read.usage.usedInWindow("key_1", "runs", HOUR)).toBe(8);
      const whole = { amount: 10, max: 9 };
      expect(await first.transaction((tx) => tx.usage.reserve("key_2", "runs", HOUR, whole))).toBe(false);
      expect(await first.read.usage.usedInWindow("key_2", "runs", HOUR)).toBe(0);
    });

    it("gives a reservation back when its transaction is rolled back", async () => {
      const { first } = await open(setup);
      const failing = first.transaction(async (tx) => {
        expect(await tx.usage.reserve("key_1", "runs", HOUR, { amount: 1, max: 1 })).toBe(true);
        throw new Error("not started");
      });
      await expect(failing).rejects.toThrow("not started");
      expect(await first.read.usage.usedInWindow("key_1", "runs", HOUR)).toBe(0);
    });
  });

  describe("the stored bytes of a subject", () => {
    it("lose none of several changes at the same time, and those of a transaction that is rolled back", async () => {
      const { database, first, insertRun } = await open(setup);
      const ids = Array.from({ length: 6 }, (_, i) => `run_${i}`);
      for (const id of ids) await insertRun(id);
      const before = await first.read.usage.storedBytes("key_1");
      const text = "x".repeat(5_000);
      await concurrently(database, 24, ({ transaction }, caller) =>
        transaction(async (tx) => {
          const run = (await tx.runs.lock(ids[caller % ids.length]!))!;
          await tx.runs.update(run.id, { seq: run.seq + 1, output: text });
        }),
      );
      expect(await first.read.usage.storedBytes("key_1")).toBe(before + 24 * (text.length + 2));
      const failing = first.transaction(async (tx) => {
        await tx.runs.lock("run_0");
        await tx.runs.update("run_0", { seq: 9, output: text });
        throw new Error("rolled back");
      });
      await expect(failing).rejects.toThrow("rolled back");
      expect(await first.read.usage.storedBytes("key_1")).toBe(before + 24 * (text.length + 2));
    });

    it("count equal values in full, and keep them while one of several runs has them", async () => {
      const { database, first, workflow, insertRun, now } = await open(setup);
      const inputs = { text: "y".repeat(5_000) };
      await insertRun("run_old", { inputs });
      await first.transaction(async (tx) => {
        await tx.runs.lock("run_old");
        await tx.runs.update("run_old", { seq: 1, status: "succeeded", finishedAt: now() });
      });
      const one = await first.read.usage.storedBytes("key_1");
      database.clock.advance(DAY);
      await concurrently(database, 9, ({ transaction }, caller) =>
        transaction(async (tx) => {
          if (caller === 4) await tx.runs.purge(now(), now(), 100);
          else await tx.runs.insert({ ...newRun(`run_${caller}`, workflow.id, now()), inputs });
        }),
      );
      expect(await first.read.runs.find("run_old")).toBeUndefined();
      for (const caller of [0, 1, 2, 3, 5, 6, 7, 8])
        expect(await first.read.runs.inputs(`run_${caller}`)).toEqual(inputs);
      const size = JSON.stringify(inputs).length;
      expect(await first.read.usage.storedBytes("key_1")).toBe(one + 7 * size);
    });
  });

  describe("an approval", () => {
    it("is decided by one of several decisions, and a cancelled run leaves that one", async () => {
      const { database, first, insertRun, now } = await open(setup);
      await insertRun("run_1");
      await first.transaction((tx) => tx.approvals.insert(pendingApproval(now())));
      const decided = await concurrently(database, 6, ({ transaction }, caller) =>
        transaction((tx) =>
          tx.approvals.decide("apr_1", {
            status: caller % 2 === 0 ? "approved" : "declined",
            decidedAt: now(),
            decidedBy: `person_${caller}`,
            comment: null,
            answer: { caller },
          }),
        ),
      );
      expect(applied(decided)).toBe(1);
      const caller = decided.indexOf(true);
      await first.transaction((tx) => tx.approvals.cancelForRun("run_1", now()));
      expect(await first.read.approvals.find("apr_1")).toMatchObject({
        status: caller % 2 === 0 ? "approved" : "declined",
        decidedBy: `person_${caller}`,
        answer: { caller },
      });
    });

    it("is not decided after its run has cancelled it", async () => {
      const { first, second, insertRun, now } = await open(setup);
      await insertRun("run_1");
      await first.transaction((tx) => tx.approvals.insert(pendingApproval(now())));
      await first.transaction((tx) => tx.approvals.cancelForRun("run_1", now()));
      const late = {
        status: "approved",
        decidedAt: now(),
        decidedBy: "ann",
        comment: null,
        answer: null,
      } as const;
      expect(await second.transaction((tx) => tx.approvals.decide("apr_1", late))).toBe(false);
      expect((await first.read.approvals.find("apr_1"))!.status).toBe("cancelled");
    });
  });

  describe("the decisions of several people on an approval", () => {
    const end = { decidedBy: "ann", comment: null, answer: null } as const;

    it("are recorded once for each person and each seat, however many come at the same time", async () => {
      const { database, first, insertRun, now } = await open(setup);
      await insertRun("run_1");
      await first.transaction((tx) => tx.approvals.insert(pendingApproval(now())));
      // Three people, twice each; the last two take one seat.
      const people = [decisionOf("ann"), decisionOf("ben"), decisionOf("cai", "ben")];
      const recorded = await concurrently(database, 6, ({ transaction }, caller) =>
        transaction(async (tx) => {
          await tx.approvals.lock("apr_1");
          return tx.approvals.addDecision("apr_1", people[caller % 3]!);
        }),
      );
      expect(applied(recorded)).toBe(2);
      const { decisions } = (await first.read.approvals.find("apr_1"))!;
      expect(decisions.map(({ seat }) => seat).toSorted()).toEqual(["ann", "ben"]);
      // For another plan everybody decides again.
      const again = { ...decisionOf("ann"), planDigest: "another plan" };
      expect(await first.transaction((tx) => tx.approvals.addDecision("apr_1", again))).toBe(true);
    });

    it("end it once when the last ones come at the same time as its expiry", async () => {
      for (let round = 0; round < 5; round += 1) {
        const { database, first, insertRun, now } = await open(setup);
        await insertRun("run_1");
        await first.transaction((tx) =>
          tx.approvals.insert({ ...pendingApproval(now()), rules: { ...FIRST_DECIDES, required: 2 } }),
        );
        const ended = await concurrently(database, 4, ({ transaction }, caller) =>
          transaction(async (tx) => {
            if (caller === 3)
              return tx.approvals.decide("apr_1", { ...end, status: "expired", decidedAt: now() });
            const approval = (await tx.approvals.lock("apr_1"))!;
            if (approval.status !== "pending") return false;
            const decision = decisionOf(`person_${caller}`);
            expect(await tx.approvals.addDecision("apr_1", decision)).toBe(true);
            const { outcome } = tally(approval.rules, [...approval.decisions, decision], "plan");
            if (outcome === null) return false;
            return tx.approvals.decide("apr_1", { ...end, status: outcome, decidedAt: now() });
          }),
        );
        expect(applied(ended)).toBe(1);
        const { status, decisions } = (await first.read.approvals.find("apr_1"))!;
        // Who decides after the end is not recorded.
        const isWhole = status === "approved" ? decisions.length === 2 : decisions.length <= 1;
        expect({ isWhole, isEnd: ["approved", "expired"].includes(status) }).toEqual({
          isWhole: true,
          isEnd: true,
        });
      }
    });

    it("have events with numbers of their own, also of several callers at the same time", async () => {
      const { database, first, insertRun, now } = await open(setup);
      await insertRun("run_1");
      await first.transaction((tx) => tx.approvals.insert(pendingApproval(now())));
      await concurrently(database, 6, ({ transaction }) =>
        transaction(async (tx) => {
          await tx.approvals.lock("apr_1");
          const event = {
            kind: "reminded",
            at: now(),
            by: null,
            to: [],
            note: null,
            notified: false,
          } as const;
          return tx.approvals.addEvent("apr_1", event);
        }),
      );
      const { events } = (await first.read.approvals.find("apr_1"))!;
      expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
      await first.transaction((tx) => tx.approvals.setNotified("apr_1", [2, 3]));
      const notices = (await first.read.approvals.find("apr_1"))!.events.filter(({ notified }) => notified);
      expect(notices.map(({ seq }) => seq)).toEqual([2, 3]);
    });
  });

  describe("a link that decides an approval", () => {
    it("is used up by one of several decisions, and records each browser once", async () => {
      const { database, first, second, now } = await open(setup);
      const digest = Buffer.from("link");
      const link = {
        approvalId: "apr_1",
        recipient: "ann@example.com",
        planDigest: "plan",
        createdAt: now(),
      };
      await first.transaction((tx) => tx.approvalLinks.insert({ ...link, digest }));
      const used = await concurrently(database, 6, ({ transaction }) =>
        transaction((tx) => tx.approvalLinks.consume(digest, now())),
      );
      expect(applied(used)).toBe(1);
      expect(await second.read.approvalLinks.find(digest)).toEqual({ ...link, usedAt: now() });
      const visits = await concurrently(database, 6, ({ transaction }, caller) =>
        transaction((tx) =>
          tx.approvalLinks.addVisit(digest, {
            address: `10.0.0.${caller % 2}`,
            client: "Firefox",
            at: now(),
          }),
        ),
      );
      expect(applied(visits)).toBe(2);
      expect(await second.read.approvalLinks.visits(digest)).toHaveLength(2);
    });
  });

  describe("the text of a definition", () => {
    const definition = { steps: [{ id: "a", type: "set", values: { n: 1 } }] };
    const content = { name: "Hello", description: "", tags: [], definition };
    const change = { kind: "updated", reason: null, actor: ACTOR } as const;
    // The first is stored in its column, the second in a row of its own. The form of a reference is a text like any other.
    const TEXTS = ["# Grüße 🦄\r\nsteps: []\t\n", `# ${"é".repeat(9_000)}`, ' {"stored_value":1}'];

    it.each(TEXTS)("is read as it was written, and stays with the same definition (%#)", async (text) => {
      const { first } = await open(setup);
      const { id } = await first.write(INTENT, async (tx) => {
        const made = await tx.workflows.insert({ ...content, definition_text: text }, change);
        const renamed = await tx.workflows.addVersion(made, { ...made, name: "Renamed" }, change);
        const other = { ...renamed, definition: { steps: [] } };
        return tx.workflows.addVersion(renamed, other, change);
      });
      const texts = await first.write(INTENT, async ({ workflows }) => [
        await workflows.versionText(id, 1),
        await workflows.versionText(id, 2),
        await workflows.versionText(id, 3),
      ]);
      expect(texts).toEqual([text, text, null]);
    });

    it("is deleted with an old version, and counts as long as it is stored", async () => {
      const { database, first, now } = await open(setup);
      const text = TEXTS[1]!;
      const { id } = await first.write(INTENT, async (tx) => {
        const made = await tx.workflows.insert({ ...content, definition_text: text }, change);
        return tx.workflows.addVersion(made, { ...made, definition: null }, change);
      });
      database.clock.advance(DAY);
      const { bytes } = await first.write(INTENT, (tx) =>
        tx.workflows.pruneVersions({ workflowId: id, keep: 1, before: now() }),
      );
      expect(bytes).toBe(Buffer.byteLength(JSON.stringify(definition)) + Buffer.byteLength(text));
      expect(await first.write(INTENT, (tx) => tx.workflows.versionText(id, 1))).toBeNull();
    });
  });

  describe("the state of a workflow", () => {
    it("is replaced by one of several concurrent writers with one revision, also by the first write", async () => {
      const { database, first, second, workflow, now } = await open(setup);
      expect(await first.read.workflowStates.find(workflow.id)).toBeUndefined();
      for (const revision of [1, 2]) {
        const results = await concurrently(database, 12, ({ transaction }, index) =>
          transaction((tx) =>
            tx.workflowStates.replace(
              workflow.id,
              revision,
              { ...written(index, now()), change: SET_BY_HAND },
              "key_1",
            ),
          ),
        );
        expect(applied(results)).toBe(1);
        expect(await second.read.workflowStates.find(workflow.id)).toEqual({
          revision: revision + 1,
          ...written(results.indexOf(true), now()),
        });
      }
    });

    it("is not replaced with an older or a newer revision", async () => {
      const { first, workflow, now } = await open(setup);
      const replace = (revision: number, id: number) =>
        first.transaction((tx) =>
          tx.workflowStates.replace(
            workflow.id,
            revision,
            { ...written(id, now()), change: SET_BY_HAND },
            "key_1",
          ),
        );
      expect(await replace(2, 1)).toBe(false);
      expect(await replace(1, 2)).toBe(true);
      expect(await replace(1, 3)).toBe(false);
      expect(await replace(3, 4)).toBe(false);
      expect((await first.read.workflowStates.find(workflow.id))?.values).toEqual({ last_id: 2 });
    });

    it("keeps what a run has read and committed, also when it is large", async () => {
      const { first, now, insertRun } = await open(setup);
      const state = { text: "x".repeat(20_000) };
      await insertRun("run_1", { state, stateRevision: 4 });
      expect(await first.read.runs.state("run_1")).toEqual(state);
      expect((await first.read.runs.find("run_1"))?.stateRevision).toBe(4);
      await first.transaction(async (tx) => {
        await tx.runs.lock("run_1");
        await tx.runs.update("run_1", { seq: 1, committed: { text: "y" }, finishedAt: now() });
      });
      const at = { runId: "run_1", what: "committed" } as const;
      expect(await first.read.runs.valueText(at, { from: 0, chars: 100 })).toMatchObject({
        text: '{"text":"y"}',
      });
    });
  });

  describe("an event", () => {
    it("is received once, from one of several concurrent senders", async () => {
      const { database, first, now, insertRun } = await open(setup);
      await insertRun("run_1");
      const ref = { runId: "run_1", stepId: "callback" };
      expect(await first.read.events.find(ref)).toBeUndefined();
      const receivedAt = now();
      const results = await concurrently(database, 12, ({ transaction }, sender) =>
        transaction(async (tx) => {
          await tx.runs.lock("run_1");
          return tx.events.receive(ref, { receivedAt, body: { sender, text: "x".repeat(9_000) } });
        }),
      );
      expect(applied(results)).toBe(1);
      expect(await first.read.events.find(ref)).toEqual({
        receivedAt,
        body: { sender: results.indexOf(true), text: "x".repeat(9_000) },
      });
      expect(await first.read.events.find({ ...ref, stepId: "other" })).toBeUndefined();
    });
  });

  describe("a delivery to a trigger", () => {
    const until = "2999-01-01T00:00:00.000Z";

    it("is recorded once, and its repetitions are counted and get its run, from concurrent senders", async () => {
      const { database, first, now } = await open(setup);
      const receivedAt = now();
      const results = await concurrently(database, 12, ({ transaction }, sender) =>
        transaction((tx) => tx.triggerDeliveries.record(newDelivery(`trd_${sender}`, receivedAt))),
      );
      const recorded = results.indexOf(undefined);
      const runs = results.flatMap((found) => (found === undefined ? [] : [found.runId]));
      expect(runs).toEqual(Array.from({ length: 11 }, () => `run_of_trd_${recorded}`));
      expect((await first.read.triggerDeliveries.find(`trd_${recorded}`))!.repeats).toBe(11);
      const others = [newDelivery("trd_a", receivedAt), newDelivery("trd_b", receivedAt)];
      for (const other of others)
        expect(
          await first.transaction((tx) => tx.triggerDeliveries.record({ ...other, key: null })),
        ).toBeUndefined();
    });

    it("that started no run is recorded again once, and one that did is repeated", async () => {
      const { database, first, now } = await open(setup);
      const receivedAt = now();
      const end = async (status: "failed" | "started"): Promise<void> => {
        const [claimed] = await first.transaction((tx) =>
          tx.triggerDeliveries.claim({ now: until, until, limit: 1 }),
        );
        await first.transaction((tx) =>
          tx.triggerDeliveries.endClaimed(claimed!, { status, code: null, reason: null }, receivedAt),
        );
      };
      await first.transaction((tx) => tx.triggerDeliveries.record(newDelivery("trd_first", receivedAt)));
      await end("failed");
      const results = await concurrently(database, 6, ({ transaction }, sender) =>
        transaction((tx) => tx.triggerDeliveries.record(newDelivery(`trd_${sender}`, receivedAt))),
      );
      const recorded = `trd_${results.indexOf(undefined)}`;
      expect(results.flatMap((found) => (found === undefined ? [] : [found.id]))).toEqual(
        Array.from({ length: 5 }, () => recorded),
      );
      expect(await first.read.triggerDeliveries.find("trd_first")).toMatchObject({
        status: "failed",
        key: null,
        repeats: 0,
      });
      expect(await first.read.triggerDeliveries.find(recorded)).toMatchObject({
        redeliveryOf: "trd_first",
        repeats: 5,
      });
      await end("started");
      const again = await first.transaction((tx) =>
        tx.triggerDeliveries.record(newDelivery("trd_again", receivedAt)),
      );
      expect(again).toMatchObject({ id: recorded, status: "started", repeats: 6 });
    });

    it("is claimed and ended by one of several executors, and by the next one once the claim is over", async () => {
      const { database, first, now } = await open(setup);
      const receivedAt = now();
      await first.transaction((tx) => tx.triggerDeliveries.record(newDelivery("trd_1", receivedAt)));
      const claims = await concurrently(database, 6, ({ transaction }) =>
        transaction((tx) => tx.triggerDeliveries.claim({ now: receivedAt, until, limit: 5 })),
      );
      const [claimed, ...others] = claims.flat();
      expect(others).toEqual([]);
      expect(claimed).toMatchObject({ id: "trd_1", attempts: 1 });
      // The claim is over: another executor claims it, and only that one can end it.
      const [again] = await first.transaction((tx) =>
        tx.triggerDeliveries.claim({ now: until, until, limit: 5 }),
      );
      const end = { status: "started", code: null, reason: null } as const;
      const ended = await concurrently(database, 6, ({ transaction }, executor) =>
        transaction((tx) =>
          tx.triggerDeliveries.endClaimed(executor % 2 === 0 ? claimed! : again!, end, receivedAt),
        ),
      );
      expect(ended.filter((done) => done)).toHaveLength(1);
      expect(ended.indexOf(true) % 2).toBe(1);
      expect(await first.read.triggerDeliveries.hasDue(until)).toBe(false);
    });

    it("that was refused makes room among those with its code, and takes none from others", async () => {
      const { first } = await open(setup);
      await first.transaction(async (tx) => {
        await tx.triggerDeliveries.record(newRefusal(0, "invalid_input"));
        for (let index = 1; index < 60; index += 1)
          await tx.triggerDeliveries.record(newRefusal(index, "signature_invalid"));
        await tx.triggerDeliveries.pruneRefused("trg_1", "signature_invalid");
      });
      const filter = { workflowId: "weekly-revenue", triggerId: "trg_1" };
      const { items } = await first.read.triggerDeliveries.page({ filter, after: null, limit: 100 });
      const codes = Map.groupBy(items, ({ code }) => code);
      expect(
        codes
          .get("signature_invalid")!
          .map(({ id }) => id)
          .at(-1),
      ).toBe("trd_signature_invalid_10");
      expect(codes.get("signature_invalid")).toHaveLength(50);
      expect(codes.get("invalid_input")).toHaveLength(1);
    });
  });

  describe("a schedule", () => {
    const schedule: ScheduleRecord = {
      workflowId: "weekly-revenue",
      project: "default",
      version: 1,
      cron: "0 * * * *",
      timezone: "UTC",
      overlap: "skip",
      paused: false,
      nextAt: "2026-11-21T09:00:00.000Z",
      lastAt: null,
      skipped: null,
      actor: { owner: "operator", keyName: "ci", lineage: "key_1" },
    };
    const next = { version: 1, nextAt: "2026-11-21T10:00:00.000Z" };

    it("is advanced by one of several executors that see it due", async () => {
      const { database, first } = await open(setup);
      await first.transaction((tx) => tx.schedules.save(schedule));
      const advanced = await concurrently(database, 6, ({ transaction }) =>
        transaction((tx) => tx.schedules.advance(schedule.workflowId, schedule.nextAt!, next)),
      );
      expect(applied(advanced)).toBe(1);
    });

    it.each([
      ["paused", { paused: true }],
      ["published again", { version: 2 }],
    ])("is not advanced once it was %s", async (_what, change) => {
      const { first, second } = await open(setup);
      await first.transaction((tx) => tx.schedules.save({ ...schedule, ...change }));
      const advancing = second.transaction((tx) =>
        tx.schedules.advance(schedule.workflowId, schedule.nextAt!, next),
      );
      expect(await advancing).toBe(false);
      expect((await first.read.schedules.find(schedule.workflowId))!.nextAt).toBe(schedule.nextAt);
    });

    it("has one run for each time, whichever transaction inserts it", async () => {
      const { database, first, workflow, now } = await open(setup);
      const scheduled = { trigger: "schedule", scheduledFor: schedule.nextAt } as const;
      const inserted = await concurrently(database, 4, ({ transaction }, caller) =>
        transaction((tx) =>
          tx.runs.insert({ ...newRun(`run_${caller}`, workflow.id, now()), ...scheduled }),
        ).then(
          () => true,
          () => false,
        ),
      );
      expect(applied(inserted)).toBe(1);
      expect(await first.read.runs.count({})).toBe(1);
    });
  });

  describe("a search of people", () => {
    it("finds parts of addresses as people read them, page by page, with their number", async () => {
      const { first } = await open(setup);
      const addresses = [
        "ann@xn--bcher-kva.example",
        "ben@example.com",
        "jo\u00e9@example.com",
        "zoe@example.com",
      ];
      await first.write(INTENT, async ({ users }) => {
        for (const email of addresses) await users.insert(testUser(email.split("@")[0]!, { email }));
      });
      const found = (search: string): Promise<string[]> =>
        first.write(INTENT, async ({ users }) => {
          const emails: string[] = [];
          let after: Parameters<typeof users.page>[0]["after"] = null;
          do {
            const page = await users.page({ filter: { search }, after, limit: 1 });
            emails.push(...page.items.map(({ email }) => email));
            after = page.next;
          } while (after !== null);
          expect(await users.count({ search })).toBe(emails.length);
          return emails;
        });
      expect(await found("EXAMPLE.com")).toEqual([
        "ben@example.com",
        "jo\u00e9@example.com",
        "zoe@example.com",
      ]);
      expect(await found("BU\u0308CHER")).toEqual(["ann@xn--bcher-kva.example"]);
      expect(await found("xn--bch")).toEqual(["ann@xn--bcher-kva.example"]);
      expect(await found("JOE\u0301")).toEqual(["jo\u00e9@example.com"]);
      expect(await found("_")).toEqual([]);
    });
  });

  describe("an abandoned attempt", () => {
    it("is reported to one of several callers that interrupt it", async () => {
      const { database, first, insertRun, now } = await open(setup);
      await insertRun("run_1");
      const ref = { runId: "run_1", stepId: "a", item: null };
      await first.transaction((tx) =>
        tx.runs.saveAttempt(ref, {
          attempt: 1,
          status: "running",
          executor: "exe_dead",
          startedAt: now(),
          finishedAt: null,
          usage: null,
          error: null,
          effectKey: "key_1",
        }),
      );
      const reported = await concurrently(database, 4, ({ transaction }) =>
        transaction((tx) => tx.runs.interruptAttempts("exe_dead", now())),
      );
      expect(reported.flat()).toEqual([{ ...ref, attempt: 1, startedAt: now(), effectKey: "key_1" }]);
    });
  });
}
