import { describe, expect, it } from "vitest";
import { DEFAULT_PROJECT } from "../../../schemas/project.ts";
import { iso, MINUTE } from "../../../src/core/clock.ts";
import type { ClaimableQueue, DueQueue, DueQueueReader } from "../../../src/core/delivery-queue-ports.ts";
import type { WriteIntent } from "../../../src/core/ports.ts";
import type { EngineReaders, EngineWriters } from "../../../src/core/run-ports.ts";
import type { DeliveryRecord } from "../../../src/core/subscription-ports.ts";
import type { NewTriggerDelivery, TriggerDeliveryRecord } from "../../../src/core/trigger-ports.ts";
import { deliveryPool } from "../../../src/engine/executor/deliveries/delivery-pool.ts";
import {
  ACTOR,
  concurrently,
  type ContractConnection,
  type ContractDatabase,
  type ContractSetup,
} from "./setup.ts";

const INTENT: WriteIntent = {
  operation: "create_subscription",
  actor: ACTOR,
  requestId: "req_1",
};

const newDelivery = (id: string, receivedAt: string, subject = "ann@example.com"): NewTriggerDelivery => ({
  id,
  triggerId: "trg_1",
  workflowId: "weekly-revenue",
  subject,
  receivedAt,
  status: "received",
  runId: `run_of_${id}`,
  key: "the same",
  senderId: "msg_1",
  code: null,
  reason: null,
  bytes: 2,
  bodyDigest: null,
  redeliveryOf: null,
  event: { body: {}, headers: {}, query: {} },
});

type Delivery = DeliveryRecord | TriggerDeliveryRecord;

/** The two kinds of deliveries, each with a queue for each owner. */
interface Kind {
  add(connection: ContractConnection, owner: string, count: number, at: string): Promise<void>;
  queue(tx: EngineWriters): ClaimableQueue<Delivery>;
  reader(read: EngineReaders): DueQueueReader;
  end(tx: EngineWriters, delivery: Delivery, at: string): Promise<boolean>;
}

const KINDS: readonly (readonly [string, Kind])[] = [
  [
    "received by triggers",
    {
      add: (connection, owner, count, at) =>
        connection.transaction(async (tx) => {
          for (let number = 0; number < count; number += 1)
            await tx.triggerDeliveries.record({
              ...newDelivery(`trd_${owner}_${number}`, at, owner),
              key: null,
            });
        }),
      queue: (tx) => tx.triggerDeliveries,
      reader: (read) => read.triggerDeliveries,
      end: (tx, delivery, at) =>
        tx.triggerDeliveries.endClaimed(delivery, { status: "started", code: null, reason: null }, at),
    },
  ],
  [
    "to subscriptions",
    {
      async add({ write, transaction }, owner, count, at) {
        const id = `sub_${owner}`;
        await write(INTENT, (tx) =>
          tx.subscriptions.insert({
            id,
            project: DEFAULT_PROJECT,
            name: owner,
            format: "standard_webhooks",
            url: "https://example.com/hook",
            urlSecret: null,
            events: ["run.failed"],
            workflows: null,
            tags: null,
            includeValues: false,
            generation: 1,
            previousUntil: null,
            pausedAt: null,
            pauseReason: null,
            failingSince: null,
            succeededAt: null,
            createdAt: at,
            createdBy: owner,
            subject: owner,
          }),
        );
        const event = { project: DEFAULT_PROJECT, workflowId: null, runId: null, at, data: {} };
        await transaction(async (tx) => {
          for (let number = 0; number < count; number += 1)
            await tx.outbox.recordFor(id, { ...event, type: "subscription.test" });
        });
      },
      queue: (tx) => tx.deliveryQueue,
      reader: (read) => read.deliveryQueue,
      end: (tx, delivery, at) =>
        tx.deliveryQueue.recordAttempt(delivery, {
          state: "delivered",
          dueAt: null,
          at,
          status: 200,
          response: null,
          error: null,
          ms: 1,
        }),
    },
  ],
];

const addWorkflow = ({ write }: ContractConnection): Promise<unknown> =>
  write(INTENT, (tx) =>
    tx.workflows.insert(
      { name: "Weekly revenue", description: "", tags: [], definition: null },
      { kind: "created", reason: null, actor: INTENT.actor },
    ),
  );

async function open(setup: ContractSetup, kind: Kind, counts: Readonly<Record<string, number>>) {
  const database: ContractDatabase = await setup(3);
  const [first] = database.connections as [ContractConnection];
  const now = (): string => iso(database.clock.now());
  await addWorkflow(first);
  for (const [owner, count] of Object.entries(counts)) await kind.add(first, owner, count, now());
  const due = (): Promise<DueQueue[]> => kind.reader(first.read).dueQueues(now());
  const claimOf = (by: string, limit: number) => ({
    now: now(),
    until: iso(database.clock.now() + MINUTE),
    by,
    limit,
  });
  return { database, first, now, due, claimOf };
}

const PLACES = { all: 8, owner: 6, queue: 6 };
const applied = (results: readonly boolean[]): number => results.filter(Boolean).length;
const idsOf = (deliveries: readonly Delivery[]): string[] => deliveries.map(({ id }) => id);

/** The guarantees of src/core/delivery-queue-ports.ts, for both kinds of deliveries. */
export function deliveryContract(setup: ContractSetup): void {
  describe.each(KINDS)("deliveries %s", (_, kind) => {
    it("are claimed once each, from concurrent executors, and only those of the queue", async () => {
      const { database, due, claimOf } = await open(setup, kind, { ann: 20, ben: 1 });
      const queues = await due();
      expect(queues.map(({ subject }) => subject).toSorted()).toEqual(["ann", "ben"]);
      const { queue } = queues.find(({ subject }) => subject === "ann")!;
      const claims = await concurrently(database, 9, ({ transaction }, caller) =>
        transaction((tx) => kind.queue(tx).claim(queue, claimOf(`exe_${caller}`, 2))),
      );
      expect(claims.filter((claimed) => claimed.length > 2)).toEqual([]);
      const { transaction } = database.connections[0]!;
      const rest = await transaction((tx) => kind.queue(tx).claim(queue, claimOf("exe_last", 30)));
      const ids = idsOf([...claims.flat(), ...rest]);
      expect(ids).toHaveLength(20);
      expect(new Set(ids).size).toBe(20);
      expect((await due()).map(({ subject }) => subject)).toEqual(["ben"]);
    });

    it("are ended by the executor that claimed last, and released at once when it is found dead", async () => {
      const { database, first, due, claimOf, now } = await open(setup, kind, { ann: 1 });
      const [{ queue }] = (await due()) as [DueQueue];
      const claim = async (by: string) =>
        (await first.transaction((tx) => kind.queue(tx).claim(queue, claimOf(by, 5))))[0]!;
      const dead = await claim("exe_dead");
      expect(await due()).toEqual([]);
      await first.transaction((tx) => tx.jobs.reclaim("exe_dead"));
      expect(await first.transaction((tx) => kind.end(tx, dead, now()))).toBe(false);
      const slow = await claim("exe_slow");
      expect(slow).toMatchObject({ id: dead.id, attempts: 2 });
      database.clock.advance(MINUTE);
      const last = await claim("exe_1");
      const ended = await concurrently(database, 6, ({ transaction }, caller) =>
        transaction((tx) => kind.end(tx, caller % 2 === 0 ? slow : last, now())),
      );
      expect(applied(ended)).toBe(1);
      expect(ended.indexOf(true) % 2).toBe(1);
      expect(await due()).toEqual([]);
    });

    it("of an owner whose deliveries never end delay those of no other owner, and do not fill the places", async () => {
      const { database, first, now } = await open(setup, kind, { slow: 60 });
      const held: string[][] = [[], [], []];
      const ended: string[] = [];
      const slow = Promise.withResolvers<void>();
      const pools = database.connections.map(({ read, transaction }, index) =>
        deliveryPool<Delivery>({
          executor: `exe_${index}`,
          read: kind.reader(read),
          claim: (claims) => transaction((tx) => claims(kind.queue(tx))),
          clock: database.clock,
          places: PLACES,
          claimMs: MINUTE,
          async handle(delivery) {
            const owner = ownerOf(delivery);
            if (owner === "slow") {
              held[index]!.push(delivery.id);
              await slow.promise;
            } else if (await transaction((tx) => kind.end(tx, delivery, now()))) ended.push(owner);
          },
        }),
      );
      await Promise.all(pools.map((pool) => pool.beginDue()));
      await kind.add(first, "quick", 3, now());
      await kind.add(first, "other", 2, now());
      await Promise.all(pools.map((pool) => pool.beginDue()));
      await expect.poll(() => ended.toSorted()).toEqual(["other", "other", "quick", "quick", "quick"]);
      for (const ids of held) expect(ids.length).toBeGreaterThan(0);
      for (const ids of held) expect(ids.length).toBeLessThan(PLACES.all);
      await Promise.all(pools.map((pool) => pool.stop()));
      slow.resolve();
      await Promise.all(pools.map((pool) => pool.idle()));
      expect(new Set(held.flat()).size).toBe(held.flat().length);
    });

    it("of owners that wait are begun in turns, however many each of them has", async () => {
      const { database, first, now } = await open(setup, kind, { many: 30, few: 3, one: 1 });
      const order: string[] = [];
      const { read, transaction } = first;
      // Deliveries end in pairs, because an owner whose deliveries end sooner begins more of them.
      const pairs = [1, 2, 3].map(() => Promise.withResolvers<void>());
      const pool = deliveryPool<Delivery>({
        executor: "exe_1",
        read: kind.reader(read),
        claim: (claims) => transaction((tx) => claims(kind.queue(tx))),
        clock: database.clock,
        places: { all: 2, owner: 1, queue: 1 },
        claimMs: MINUTE,
        async handle(delivery) {
          const number = order.push(ownerOf(delivery));
          await pairs[Math.ceil(number / 2) - 1]?.promise;
          await transaction((tx) => kind.end(tx, delivery, now()));
        },
      });
      await pool.beginDue();
      for (const [index, { resolve }] of pairs.entries()) {
        await expect.poll(() => order.length).toBe(2 * (index + 1));
        resolve();
      }
      await expect.poll(() => order.length, { timeout: 20_000 }).toBe(34);
      await pool.stop();
      await pool.idle();
      expect(order.slice(0, 6).filter((owner) => owner === "few").length).toBeGreaterThanOrEqual(2);
      expect(order.slice(0, 4)).toContain("one");
    });
  });

  describe("a delivery to a trigger", () => {
    it("is recorded once, and its repetitions are counted and get its run, from concurrent senders", async () => {
      const database = await setup(3);
      const [first] = database.connections as [ContractConnection];
      await addWorkflow(first);
      const receivedAt = iso(database.clock.now());
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
  });
}

/** The owner of a delivery, from the ids that `Kind.add` gives. */
function ownerOf(delivery: Delivery): string {
  return "triggerId" in delivery ? delivery.id.split("_")[1]! : delivery.subscriptionId!.split("_")[1]!;
}
