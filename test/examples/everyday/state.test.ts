import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import type { Backfill, BackfillPreview } from "../../../schemas/backfill.ts";
import type { StateChange } from "../../../schemas/workflow-state.ts";
import { listBackfills } from "../../../tools/backfills/list-backfills.ts";
import { previewBackfill } from "../../../tools/backfills/preview-backfill.ts";
import { startBackfill } from "../../../tools/backfills/start-backfill.ts";
import { listStateChanges } from "../../../tools/workflow-state/list-state-changes.ts";
import { resetWorkflowState } from "../../../tools/workflow-state/reset-workflow-state.ts";
import { setWorkflowState } from "../../../tools/workflow-state/set-workflow-state.ts";
import { fakeClock } from "../../support/clock.ts";
import { exampleEnvironment } from "../../support/example-environment.ts";

/** A database that the sync may write. */
function copyDatabase(directory: string) {
  const dataset = join(directory, "copy.db");
  const db = new Database(dataset);
  db.exec("create table contacts (id integer primary key, name text not null)");
  db.close();
  return { databases: [{ name: "copy", type: "sqlite" as const, dataset, access: "read-write" as const }] };
}

describe("everyday work that remembers", () => {
  it("reports each new order once, also after a run that failed", async () => {
    let isUp = true;
    const environment = await exampleEnvironment({
      http: () => (isUp ? { body: {} } : { status: 400, body: {} }),
    });
    const id = await environment.publish("new-orders-once");
    // The shop has 480 orders; those before 470 were reported by the system that this one replaces.
    await environment.call(setWorkflowState, { workflow_id: id, values: { last_id: 470 } });
    const order = (orderId: number): void => {
      const db = new Database(join(environment.directory, "shop.db"));
      db.prepare("insert into orders values (?, 1, '2026-07-01', 'paid')").run(orderId);
      db.close();
    };
    const outputs: unknown[] = [(await environment.run(id)).output, (await environment.run(id)).output];
    order(481);
    isUp = false;
    const refused = await environment.run(id);
    expect(refused).toMatchObject({ status: "failed", error: { code: "http_status" } });
    order(482);
    isUp = true;
    outputs.push((await environment.run(id)).output);
    expect(outputs).toEqual([10, 0, 2]);
    const sent = environment.requests.map(({ body }) => (JSON.parse(body) as { id: number }).id);
    // The first request for 481 was refused.
    expect(sent.toSorted((one, other) => one - other)).toEqual([
      ...Array.from({ length: 10 }, (_, index) => 471 + index),
      481,
      481,
      482,
    ]);
  });

  it("moves the checkpoint of a sync only when everything was saved", async () => {
    const seen: string[] = [];
    let until = "2026-11-20T02:00:00Z";
    let contacts: { id: number; name: string | null }[] = [
      { id: 1, name: "Ann" },
      { id: 2, name: "Ben" },
    ];
    const environment = await exampleEnvironment({
      http: ({ path }) => {
        seen.push(new URL(path, "http://crm").searchParams.get("changed_since")!);
        return { body: { contacts, until } };
      },
      config: copyDatabase,
    });
    const id = await environment.publish("nightly-sync-with-checkpoint");
    expect((await environment.run(id)).output).toEqual({ saved: 2, until });
    [until, contacts] = [
      "2026-11-21T02:00:00Z",
      [
        { id: 2, name: "Bea" },
        { id: 3, name: null },
      ],
    ];
    expect((await environment.run(id)).status).toBe("failed");
    [until, contacts] = [
      "2026-11-22T02:00:00Z",
      [
        { id: 2, name: "Bea" },
        { id: 3, name: "Cem" },
      ],
    ];
    expect((await environment.run(id)).output).toEqual({ saved: 2, until });
    expect(seen).toEqual(["1970-01-01T00:00:00Z", "2026-11-20T02:00:00Z", "2026-11-20T02:00:00Z"]);
    const db = new Database(join(environment.directory, "copy.db"), { readonly: true });
    expect(db.prepare("select id, name from contacts order by id").all()).toEqual([
      { id: 1, name: "Ann" },
      { id: 2, name: "Bea" },
      { id: 3, name: "Cem" },
    ]);
    db.close();
  });

  it("syncs through failures, catches up with past nights, and starts again after a reset", async () => {
    let failures = 2;
    const seen: string[] = [];
    const environment = await exampleEnvironment({
      clock: fakeClock(Date.parse("2026-11-08T12:00:00Z")),
      http: ({ path }) => {
        // The first answers of a night are failures; the step repeats its request.
        if (failures-- > 0) return { status: 503 };
        const since = new URL(path, "http://crm").searchParams.get("changed_since")!;
        seen.push(since);
        return { body: { contacts: [{ id: seen.length, name: "Ann" }], until: `night ${seen.length}` } };
      },
      config: copyDatabase,
    });
    const id = await environment.publish("nightly-sync-with-checkpoint");
    const range = { workflow_id: id, from: "2026-11-01", to: "2026-11-03" };
    const preview = await environment.call<BackfillPreview>(previewBackfill, range);
    expect(preview.slots.map(({ local, action }) => `${local} ${action}`)).toEqual([
      "2026-11-01T02:00:00+01:00 start",
      "2026-11-02T02:00:00+01:00 start",
      "2026-11-03T02:00:00+01:00 start",
    ]);
    await environment.call(startBackfill, range);
    const backfill = async (): Promise<Backfill> =>
      (await environment.call<{ items: Backfill[] }>(listBackfills, { workflow_id: id })).items[0]!;
    for (let round = 0; (await backfill()).status === "running"; round += 1) {
      if (round > 50) throw new Error(JSON.stringify(await backfill()));
      await environment.executor.continueBackfills();
      await environment.settle();
      // The pauses of the retries.
      environment.clock.advance(60_000);
      await environment.settle();
    }
    expect(await backfill()).toMatchObject({ status: "finished", runs: { succeeded: 3 } });
    expect(seen).toEqual(["1970-01-01T00:00:00Z", "night 1", "night 2"]);
    // Asking again starts nothing twice.
    expect(await environment.call<BackfillPreview>(previewBackfill, range)).toMatchObject({ starts: 0 });
    await environment.call(resetWorkflowState, { workflow_id: id, reason: "Copy everything again" });
    expect((await environment.run(id)).status).toBe("succeeded");
    expect(seen.at(-1)).toBe("1970-01-01T00:00:00Z");
    const { items } = await environment.call<{ items: StateChange[] }>(listStateChanges, { workflow_id: id });
    expect(items.map(({ kind, reason, changes }) => ({ kind, reason, change: changes[0] }))).toEqual([
      { kind: "commit", reason: null, change: { key: "changed_until", after: "night 4" } },
      { kind: "reset", reason: "Copy everything again", change: { key: "changed_until", before: "night 3" } },
      { kind: "commit", reason: null, change: { key: "changed_until", before: "night 2", after: "night 3" } },
      { kind: "commit", reason: null, change: { key: "changed_until", before: "night 1", after: "night 2" } },
      { kind: "commit", reason: null, change: { key: "changed_until", after: "night 1" } },
    ]);
  });

  it("refuses a day that is far from the one before, and keeps the older measure", async () => {
    const environment = await exampleEnvironment();
    const id = await environment.publish("gate-against-yesterday");
    const first = await environment.run(id, { day: "2026-06-15" });
    expect(first).toMatchObject({ status: "succeeded", output: expect.any(Number) as number });
    // There is no order on this day.
    const refused = await environment.run(id, { day: "2027-01-01" });
    expect(refused).toMatchObject({ status: "failed", error: { code: "assert_failed" } });
    const again = await environment.run(id, { day: "2026-06-15" });
    expect(again).toMatchObject({ status: "succeeded", state: { revenue: first.output } });
    expect(environment.requests).toHaveLength(2);
  });

  it("sends a mail when a value has changed, and none at the first look", async () => {
    let version = "1.0";
    const environment = await exampleEnvironment({ http: () => ({ body: { version } }) });
    const id = await environment.publish("alert-on-change");
    const changes: boolean[] = [];
    for (const next of ["1.0", "1.0", "1.1", "1.1"]) {
      version = next;
      changes.push(((await environment.run(id)).output as { changed: boolean }).changed);
    }
    expect(changes).toEqual([false, false, true, false]);
    expect(environment.mails).toHaveLength(1);
    expect(environment.mails[0]).toContain("Release 1.1");
  });
});
