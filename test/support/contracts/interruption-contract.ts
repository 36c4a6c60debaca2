import { describe, expect, it } from "vitest";
import { encodeJson } from "../../../src/core/encoded-json.ts";
import type { Settlement } from "../../../src/core/interruption-ports.ts";
import { newInterruption } from "../interruption-records.ts";
import { newRun } from "../run-records.ts";
import { concurrently, type ContractConnection, type ContractSetup } from "./setup.ts";

const UNSETTLED = {
  isAsked: false,
  lookup: null,
  outcome: null,
  settledAt: null,
  settledBy: null,
  settler: null,
  comment: null,
};
const SETTLEMENT: Settlement = {
  outcome: "not_happened",
  output: null,
  settledAt: "2026-11-21T09:00:00.000Z",
  settledBy: "ann@example.com",
  settler: {
    kind: "settled",
    owner: "ann@example.com",
    keyName: "ci",
    lineage: "key_1",
    by: "int_1",
  },
  comment: "Seen in the ledger.",
};
const PAY = { runId: "run_1", stepId: "pay", item: null };

async function open(setup: ContractSetup) {
  const database = await setup(3);
  const [first] = database.connections as [ContractConnection];
  await first.transaction(async (tx) => {
    for (const id of ["run_1", "run_2"]) await tx.runs.insert(newRun(id, { workflowId: null }));
  });
  const insert = (id: string, fields: Parameters<typeof newInterruption>[1] = {}) =>
    first.transaction((tx) => tx.interruptions.open(newInterruption(id, fields)));
  const settle = (id: string, fields: Partial<Settlement> = {}) =>
    first.transaction((tx) => tx.interruptions.settle(id, { ...SETTLEMENT, ...fields }));
  return { database, first, insert, settle, interruptions: first.read.interruptions };
}

const at = (second: number): string => `2026-11-21T08:00:0${second}.000Z`;
const applied = (results: readonly boolean[]): number => results.filter(Boolean).length;
const idsOf = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

/** The guarantees of src/core/interruption-ports.ts. */
export function interruptionContract(setup: ContractSetup): void {
  describe("an interruption", () => {
    it("is found as it was opened, and is none of another attempt, item, step or run", async () => {
      const { insert, interruptions } = await open(setup);
      await insert("int_1");
      expect(await interruptions.find("int_1")).toEqual({ ...newInterruption("int_1"), ...UNSETTLED });
      expect(await interruptions.find("int_none")).toBeUndefined();
      expect(await insert("int_2", { attempt: 2 })).toBe(true);
      expect(await insert("int_3", { item: 0 })).toBe(true);
      expect(await insert("int_4", { stepId: "note" })).toBe(true);
      expect(await insert("int_5", { runId: "run_2" })).toBe(true);
    });

    it("is opened once for an attempt, by all callers together", async () => {
      const { database, interruptions } = await open(setup);
      const results = await concurrently(database, 6, ({ transaction }, caller) =>
        transaction((tx) => tx.interruptions.open(newInterruption(`int_${caller}`))),
      );
      expect(applied(results)).toBe(1);
      expect(await interruptions.count({})).toBe(1);
      const { items } = await interruptions.page({ filter: {}, after: null, limit: 9 });
      expect(idsOf(items)).toEqual([`int_${results.indexOf(true)}`]);
    });

    it("is settled once, by all callers together, and stays as the first has settled it", async () => {
      const { database, insert, settle, interruptions } = await open(setup);
      await insert("int_1");
      const results = await concurrently(database, 6, ({ transaction }, caller) =>
        transaction((tx) =>
          tx.interruptions.settle("int_1", { ...SETTLEMENT, settledBy: `${caller}@example.com` }),
        ),
      );
      expect(applied(results)).toBe(1);
      const { outcome, settledAt, settler, comment } = SETTLEMENT;
      const settledBy = `${results.indexOf(true)}@example.com`;
      const settled = {
        ...newInterruption("int_1"),
        ...UNSETTLED,
        outcome,
        settledAt,
        settledBy,
        settler,
        comment,
      };
      expect(await interruptions.find("int_1")).toEqual(settled);
      const output = encodeJson({ id: "p1" });
      expect(await settle("int_1", { outcome: "happened", output, settledBy: null })).toBe(false);
      expect(await interruptions.find("int_1")).toEqual(settled);
      expect(await interruptions.output("int_1")).toBeNull();
      expect(await settle("int_none")).toBe(false);
    });

    it.each([
      ["small", { id: "p1" }],
      ["large", { text: "long ".repeat(50_000) }],
    ])("keeps a %s output, with which it was settled", async (_, value) => {
      const { insert, settle, interruptions } = await open(setup);
      await insert("int_1");
      expect(await interruptions.output("int_1")).toBeNull();
      expect(await settle("int_1", { outcome: "happened", output: encodeJson(value) })).toBe(true);
      expect(await interruptions.output("int_1")).toEqual(encodeJson(value));
      expect(await interruptions.output("int_none")).toBeNull();
    });

    it("is settled again where only a lookup has said that its effect did not happen", async () => {
      const { first, insert, settle, interruptions } = await open(setup);
      await insert("int_1");
      expect(await settle("int_1", { settledBy: null, settler: null })).toBe(true);
      expect(await settle("int_1", { outcome: "happened" })).toBe(true);
      expect(await settle("int_1", { settledBy: null, settler: null })).toBe(false);
      expect(await first.transaction((tx) => tx.interruptions.lock("int_1"))).toMatchObject({
        outcome: "happened",
        settledBy: SETTLEMENT.settledBy,
      });
      expect(await first.transaction((tx) => tx.interruptions.lock("int_none"))).toBeUndefined();
      expect(await interruptions.openCounts(["run_1"])).toEqual(new Map());
    });

    it("is one of all with its idempotency key, in whichever run, the newest last", async () => {
      const { insert, interruptions } = await open(setup);
      const idempotencyKey = "run_1:pay:-:abc";
      await insert("int_2", { attempt: 2, idempotencyKey, interruptedAt: at(2) });
      await insert("int_1", { attempt: 1, idempotencyKey, interruptedAt: at(1) });
      await insert("int_3", { runId: "run_2", idempotencyKey, interruptedAt: at(3) });
      await insert("int_4", { attempt: 4, idempotencyKey: "run_1:pay:-:other" });
      expect(idsOf(await interruptions.ofKey(idempotencyKey))).toEqual(["int_1", "int_2", "int_3"]);
      expect(await interruptions.ofKey("none")).toEqual([]);
    });

    it("records that its step waits, and its last lookup", async () => {
      const { first, insert, interruptions } = await open(setup);
      await insert("int_1");
      await insert("int_2", { attempt: 2 });
      await first.transaction(async (tx) => {
        await tx.interruptions.setAsked("int_1");
        await tx.interruptions.setLookup("int_1", {
          at: at(1),
          error: "It was down.",
          failures: 1,
          runId: "run_1",
        });
        await tx.interruptions.setLookup("int_1", { at: at(2), error: null, failures: 1, runId: "run_1" });
      });
      const lookup = { at: at(2), error: null, failures: 1, runId: "run_1" };
      expect(await interruptions.find("int_1")).toMatchObject({ isAsked: true, lookup });
      expect(await interruptions.find("int_2")).toMatchObject({ isAsked: false, lookup: null });
    });

    it("is the latest of its step or item if its attempt is the newest that was interrupted", async () => {
      const { insert, settle, interruptions } = await open(setup);
      await insert("int_10", { attempt: 10, interruptedAt: at(1) });
      await insert("int_9", { attempt: 9, interruptedAt: at(2) });
      await insert("int_item", { item: 3 });
      await settle("int_10");
      expect((await interruptions.latest(PAY))?.id).toBe("int_10");
      expect((await interruptions.latest({ ...PAY, item: 3 }))?.id).toBe("int_item");
      expect(await interruptions.latest({ ...PAY, item: 4 })).toBeUndefined();
      expect(await interruptions.latest({ ...PAY, stepId: "note" })).toBeUndefined();
      expect(await interruptions.latest({ ...PAY, runId: "run_2" })).toBeUndefined();
    });

    it("is listed newest first, page after page, also where two have one time", async () => {
      const { insert, interruptions } = await open(setup);
      await insert("int_b", { attempt: 1, interruptedAt: at(1) });
      await insert("int_c", { attempt: 2, interruptedAt: at(1) });
      await insert("int_a", { attempt: 3, interruptedAt: at(2) });
      const page = (after: Parameters<typeof interruptions.page>[0]["after"], limit: number) =>
        interruptions.page({ filter: {}, after, limit });
      const first = await page(null, 2);
      expect(idsOf(first.items)).toEqual(["int_a", "int_c"]);
      const rest = await page(first.next, 2);
      expect({ ids: idsOf(rest.items), next: rest.next }).toEqual({ ids: ["int_b"], next: null });
      expect((await page(null, 3)).next).toBeNull();
    });

    it("is listed by state, run, workflow and project, for those who can find these", async () => {
      const { insert, settle, interruptions } = await open(setup);
      await insert("int_1", { interruptedAt: at(1) });
      await insert("int_2", { interruptedAt: at(2), attempt: 2, workflowId: null });
      await insert("int_3", { interruptedAt: at(3), runId: "run_2", project: "finance" });
      await settle("int_1");
      const list = async (filter: Parameters<typeof interruptions.count>[0]) => {
        const { items } = await interruptions.page({ filter, after: null, limit: 9 });
        expect(await interruptions.count(filter)).toBe(items.length);
        return idsOf(items);
      };
      expect(await list({})).toEqual(["int_3", "int_2", "int_1"]);
      expect(await list({ isOpen: true })).toEqual(["int_3", "int_2"]);
      expect(await list({ isOpen: false })).toEqual(["int_1"]);
      expect(await list({ runId: "run_1" })).toEqual(["int_2", "int_1"]);
      expect(await list({ workflowId: "test" })).toEqual(["int_3", "int_1"]);
      expect(await list({ project: "default", isOpen: true })).toEqual(["int_2"]);
      expect(await list({ visibility: { projects: ["default"], workflows: ["test"] } })).toEqual(["int_1"]);
      expect(await list({ visibility: { projects: ["default"], workflows: null } })).toEqual([
        "int_2",
        "int_1",
      ]);
    });

    it("is counted by run while it is open", async () => {
      const { insert, settle, interruptions } = await open(setup);
      await insert("int_1");
      await insert("int_2", { attempt: 2 });
      await insert("int_3", { runId: "run_2" });
      expect(await interruptions.openCounts([])).toEqual(new Map());
      expect(await interruptions.openCounts(["run_1", "run_2", "run_3"])).toEqual(
        new Map([
          ["run_1", 2],
          ["run_2", 1],
        ]),
      );
      await settle("int_2");
      await settle("int_3");
      expect(await interruptions.openCounts(["run_1", "run_2"])).toEqual(new Map([["run_1", 1]]));
    });
  });
}
