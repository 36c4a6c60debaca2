import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { Scope } from "../../schemas/actor.ts";
import type { PassedBacktest } from "../../schemas/backtest-rule.ts";
import { openInstance } from "../../src/app/instance.ts";
import { systemClock } from "../../src/core/clock.ts";
import { keyPrincipal } from "../support/users.ts";
import { testCli } from "../support/command-line.ts";

const DEFINITION = { steps: [{ id: "said", type: "set", values: { text: "Good morning" } }] };
const REQUESTED_AT = "2026-11-21T08:00:00.000Z";

const PASSED = {
  id: "bt_8dkq2m0sfj3a",
  rule: { last: 100, allow: [] },
  runs: { total: 100, equal: 88, different: 12, failing: 0, not_comparable: 0 },
  allowed: [],
  accepted: ["output.total", "status"],
};

/** An instance whose default project needs reviews, with a workflow and pending requests to publish it, by a key of Ann. */
async function open(...ids: string[]) {
  return openWith(null, ...ids);
}

/** @param backtest what the version passed before it was asked */
async function openWith(backtest: PassedBacktest | null, ...ids: string[]) {
  const { cli, stateDir } = await testCli();
  await cli("projects", "update", "default", "--review");
  const instance = await openInstance({ stateDir }, systemClock, pino({ level: "silent" }));
  const actor = {
    principal: keyPrincipal(Scope.options, "ann@example.com"),
    client: { surface: "rest", name: "vitest" },
  } as const;
  await instance.write({ operation: "create_workflow", actor, requestId: "req_1" }, (tx) =>
    tx.workflows.insert(
      { name: "Hello", description: "", tags: [], definition: DEFINITION },
      { kind: "created", reason: null, actor },
      { id: "hello" },
    ),
  );
  await instance.store.transaction(async (trx) => {
    for (const id of ids)
      await trx
        .insertInto("reviews")
        .values({
          id,
          project: "default",
          workflow_id: "hello",
          version: 1,
          base_version: null,
          digest: "old",
          status: "pending",
          plan: "{}",
          examples: null,
          reason: "The board asked for it.",
          backtest: backtest && JSON.stringify(backtest),
          requested_at: REQUESTED_AT,
          requested_by: "ann@example.com",
          key_name: "agent",
          lineage: "key_1",
          subject: "ann@example.com",
          decided_at: null,
          decided_by: null,
          comment: null,
        })
        .execute();
  });
  await instance.close();
  return { cli };
}

describe("millrace reviews", () => {
  it("lists none, and says of which status", async () => {
    const { cli } = await open();
    expect((await cli("reviews", "list")).out).toBe("No change request is pending.\n");
    expect((await cli("reviews", "list", "--status", "rejected")).out).toBe(
      "No change request is rejected.\n",
    );
    expect(await cli("reviews", "list", "--status", "open")).toMatchObject({
      code: 2,
      err: expect.stringContaining("Allowed choices are"),
    });
    expect(await cli("reviews", "show", "rev_none")).toMatchObject({
      code: 1,
      err: expect.stringContaining("rev_none"),
    });
  });

  it("lists and shows a request, and publishes exactly what was read", async () => {
    const { cli } = await open("rev_1");
    // Nothing mentions projects where there is one.
    expect((await cli("reviews", "list")).out).toMatch(
      /^ID +WORKFLOW +VERSION +REQUESTED BY +REQUESTED\nrev_1 +hello +1 +ann@example\.com \(agent\) +\S.*\n$/,
    );
    const { out } = await cli("reviews", "show", "rev_1");
    expect(out).toContain("Publish version 1 of hello (pending)\n");
    expect(out).toContain(
      `Requested by ann@example.com (agent) at ${REQUESTED_AT}\nWhy: The board asked for it.\n`,
    );
    expect(out).toContain("Difference to nothing, none is published:\n");
    expect(out).toMatch(/^\+.*Good morning/m);
    expect(out).toContain("It has no examples.\n");
    expect(out).not.toContain("Backtest");
    const [, digest] = /millrace reviews approve rev_1 --digest (\S+) publishes it\.\n$/.exec(out)!;
    const json = JSON.parse((await cli("reviews", "show", "rev_1", "--json")).out) as { digest: string };
    expect(json.digest).toBe(digest);

    expect(await cli("reviews", "approve", "rev_1")).toMatchObject({ code: 2 });
    const stale = await cli("reviews", "approve", "rev_1", "--digest", "old");
    expect([stale.code, stale.out]).toEqual([1, ""]);
    expect(stale.err).toContain("changed");
    expect((await cli("workflows", "list", "--json")).out).not.toContain('"published_version": 1');

    expect(await cli("reviews", "approve", "rev_1", "--digest", digest!, "--comment", "Fine.")).toMatchObject(
      {
        code: 0,
        out: "Published version 1 of hello.\n",
      },
    );
    const decided = (await cli("reviews", "show", "rev_1")).out;
    expect(decided).toContain("(approved)\n");
    expect(decided).toMatch(/Comment of .+: Fine\.\n$/);
    expect((await cli("reviews", "list", "--status", "approved")).out).toContain("rev_1");
    const twice = await cli("reviews", "approve", "rev_1", "--digest", digest!);
    expect([twice.code, twice.out]).toEqual([1, ""]);
  });

  it("shows the backtest that was passed, with what the requester accepted", async () => {
    const { cli } = await openWith(PASSED, "rev_1");
    expect((await cli("reviews", "show", "rev_1")).out).toContain(
      "Backtest: bt_8dkq2m0sfj3a, 100 runs: 88 equal, 12 different, 0 failing, 0 not comparable; accepted: output.total, status.\n",
    );
    const without = await openWith({ ...PASSED, id: null, accepted: ["definition.schedule"] }, "rev_2");
    expect((await without.cli("reviews", "show", "rev_2")).out).toContain(
      "Backtest: there were no runs; accepted: definition.schedule.\n",
    );
  });

  it("rejects with a reason, and publishes nothing", async () => {
    const { cli } = await open("rev_1");
    expect(await cli("reviews", "reject", "rev_1")).toMatchObject({ code: 2 });
    expect(await cli("reviews", "reject", "rev_1", "--comment", "Say good evening.")).toMatchObject({
      code: 0,
      out: "Rejected rev_1. Nothing was published.\n",
    });
    expect((await cli("reviews", "list")).out).toBe("No change request is pending.\n");
    const rejected = await cli("reviews", "list", "--status", "rejected", "--json");
    expect(JSON.parse(rejected.out)).toEqual([
      expect.objectContaining({ id: "rev_1", status: "rejected", comment: "Say good evening." }),
    ]);
  });

  it("withdraws only requests of the command line, and names projects where there are several", async () => {
    const { cli } = await open("rev_1");
    const refused = await cli("reviews", "withdraw", "rev_1");
    expect([refused.code, refused.out]).toEqual([1, ""]);
    await cli("projects", "create", "Finance");
    expect((await cli("reviews", "list", "--project", "finance")).out).toBe(
      "No change request is pending.\n",
    );
    expect((await cli("reviews", "list", "--project", "default")).out).toContain("rev_1");
    expect(await cli("reviews", "list", "--project", "financ")).toMatchObject({
      code: 1,
      err: expect.stringContaining('There is no project "financ"'),
    });
  });
});
