import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { untilPassing } from "../support/eventually.ts";
import { DAY, HOUR, iso } from "../../src/core/clock.ts";
import { engineTransaction } from "../../src/store/engine-transaction.ts";
import { MIGRATIONS } from "../../src/store/migrate.ts";
import { mockHttpServer, sendJson } from "../support/mock-http-server.ts";
import { apiClient } from "../support/http.ts";
import { fakeClock } from "../support/clock.ts";
import { testInstance } from "../support/instance.ts";
import { OLD_STATE_KEYS, createOldState } from "../support/old-state.ts";
import { ACCEPT_HEADERS, LIST_WORKFLOWS_CALL, postMessage } from "../support/raw-mcp.ts";
import { verifyState } from "../support/verify-state.ts";

/** The time at which the old states were written. */
const THEN = Date.parse("2026-11-21T19:00:00Z");
/** The executor that was killed. */
const DEAD = "exe_0sr-AA2dMlSN@host";

async function upgraded(migration: 1 | 2, edit?: (dump: string) => string) {
  const clock = fakeClock(THEN);
  const instance = await testInstance({ stateDir: createOldState(migration, edit), clock });
  return { clock, instance };
}

/** The state of the first release, with both listeners and a client with an old key. */
async function served() {
  const { instance } = await upgraded(1);
  const [rest, mcp] = [await instance.rest(), await instance.mcp()];
  return { instance, rest, mcp, call: apiClient(rest.url, OLD_STATE_KEYS[1].agent) };
}

describe("the state of the first release", () => {
  it("is upgraded with one log line, which names the copy", async () => {
    const lines: Record<string, unknown>[] = [];
    const log = pino({}, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
    const stateDir = createOldState(1);
    await testInstance({ stateDir, log });
    const to = MIGRATIONS.at(-1)!.id;
    const copy = expect.stringContaining(join(stateDir, `millrace.db.before-${to}-`));
    expect(lines).toMatchObject([{ level: 30, from: 1, to, copy }]);
    expect(lines[0]!["msg"]).toBe("database migrated, copy of the old one kept");
    await testInstance({ stateDir, log });
    expect(lines).toHaveLength(1);
  });

  it("gets no limits per key that it did not have", async () => {
    const { call } = await served();
    expect((await call("GET", "/environment")).body).not.toHaveProperty("your_limits");
  });

  it("is read with an old key: all workflows and versions, archived ones too", async () => {
    const { call, instance } = await served();
    const list = await call("GET", "/workflows");
    expect(list.body).toMatchObject([
      { id: "weekly-revenue-2", description: "Another of the same name: été, 世界", version: 1 },
      {
        id: "weekly-revenue",
        tags: ["sales", "weekly"],
        status: "draft",
        version: 3,
        created_by: "operator",
      },
    ]);
    const versions = await call("GET", "/workflows/weekly-revenue/versions");
    expect(versions.body).toMatchObject([
      { version: 3, change: "updated", description: "What each week brought, in euros.", key_name: "agent" },
      { version: 2, change: "updated", reason: "its steps", created_at: "2026-11-21T18:36:39.669Z" },
      { version: 1, change: "created", description: "What each week brought." },
    ]);
    const second = await call("GET", "/workflows/weekly-revenue/versions/2");
    expect(second.body.definition.steps).toEqual([
      { id: "greet", type: "set", values: { text: "Revenue of ${{ inputs.week }}" } },
    ]);
    expect((await call("GET", "/workflows/old-report")).body).toMatchObject({
      status: "archived",
      version: 2,
    });
    expect((await call("POST", "/workflows/old-report/restore")).body).toMatchObject({ status: "draft" });
    expect(verifyState(instance.stateDir)).toHaveLength(3);
  });

  it("accepts the same keys as before, and no others", async () => {
    const { rest } = await served();
    const status = async (key: string, method = "GET") =>
      (
        await apiClient(rest.url, key)(
          method,
          "/workflows",
          method === "POST" ? { name: "X", description: "" } : undefined,
        )
      ).status;
    const { agent, reader, revoked, rotated, successor } = OLD_STATE_KEYS[1];
    expect([await status(agent), await status(reader), await status(successor)]).toEqual([200, 200, 200]);
    expect([await status(revoked), await status(rotated)]).toEqual([401, 401]);
    expect([await status(reader, "POST"), await status(agent, "POST")]).toEqual([403, 201]);
  });

  it("replays idempotent responses, and continues an MCP session", async () => {
    const { call, mcp, instance } = await served();
    const body = {
      name: "Weekly revenue",
      description: "What each week brought.",
      tags: ["sales", "weekly"],
    };
    const again = await call("POST", "/workflows", body, { "Idempotency-Key": "first-create" });
    expect([again.status, again.body]).toMatchObject([201, { id: "weekly-revenue", version: 1 }]);
    expect(verifyState(instance.stateDir)).toHaveLength(3);
    const session = {
      "Mcp-Session-Id": "9d41c90c-5ef9-4cf8-b96b-41ba3b0f92ce",
      "MCP-Protocol-Version": "2025-06-18",
    };
    const listed = await postMessage(
      `${mcp.url}/mcp`,
      { ...ACCEPT_HEADERS, ...session, "X-API-Key": OLD_STATE_KEYS[1].agent },
      LIST_WORKFLOWS_CALL,
    );
    expect(listed.status).toBe(200);
    expect(listed.text).toContain("weekly-revenue-2");
  });

  it("shows its audit log, with newer entries first", async () => {
    const { rest, instance, call } = await served();
    await call("POST", "/workflows/weekly-revenue/publish", {});
    const { value } = await instance.key({ scopes: ["admin", "read"] });
    const entries = (await apiClient(rest.url, value)("GET", "/audit-log?limit=50")).body as {
      operation: string;
    }[];
    expect(entries.map(({ operation }) => operation)).toEqual([
      "create_api_key",
      "publish_workflow",
      "archive_workflow",
      "create_workflow",
      "create_workflow",
      "update_workflow",
      "update_workflow",
      "create_workflow",
      "rotate_api_key",
      "revoke_api_key",
      ...Array<string>(4).fill("create_api_key"),
    ]);
  });

  it("supports newer features: an old workflow is published and run", async () => {
    const { call, instance } = await served();
    await instance.executor();
    expect((await call("POST", "/workflows/weekly-revenue/publish", {})).body).toMatchObject({
      published_version: 3,
    });
    const run = await call("POST", "/workflows/weekly-revenue/runs", { wait: 20 });
    expect(run.body).toMatchObject({ status: "succeeded", output: "Revenue of 2026-06-15" });
  });
});

describe("the state of the release before accounts, killed with runs in flight", () => {
  it("continues waiting runs, an interrupted fan-out and schedules", async () => {
    const peer = await mockHttpServer((_, response) => sendJson(response, { one: 1 }));
    const { clock, instance } = await upgraded(2, (dump) => dump.replaceAll("127.0.0.1:18090", peer.host));
    const config = { http: { allowed_hosts: [peer.host] } };
    const rest = await instance.rest({ config });
    const call = apiClient(rest.url, OLD_STATE_KEYS[2].agent);
    const statuses = async () =>
      Object.fromEntries(
        ((await call("GET", "/runs")).body as { id: string; workflow_id: string; status: string }[]).map(
          ({ id, workflow_id, status }) => [`${workflow_id} ${id}`, status],
        ),
      );
    const { queue, startDueRuns } = await instance.executor({ config });
    // A lease is measured by the monotonic clock, which the test can't advance.
    await engineTransaction(
      instance.store,
      clock,
    )(async (tx) => {
      await tx.runs.interruptAttempts(DEAD, iso(clock.now()));
      await tx.jobs.reclaim(DEAD);
    });
    queue.wake();
    await untilPassing(async () =>
      expect(await statuses()).toMatchObject({
        "calls run_4odabEfsK75b": "succeeded",
        "done run_HfbDrvzFnB5Y": "succeeded",
        "nap run_SSSAN1QwZmx2": "waiting",
      }),
    );
    expect((await call("GET", "/runs/run_4odabEfsK75b")).body.output).toBe(4);
    // Only the call without a response is repeated.
    expect(peer.received.map(({ path }) => path)).toEqual(["/run_4odabEfsK75b/2"]);

    const approvals = (await call("GET", "/approvals")).body as { id: string }[];
    expect(approvals).toHaveLength(2);
    // The user who started a run may not decide on its approvals.
    const other = apiClient(rest.url, (await instance.key({ scopes: ["approve"] })).value);
    for (const { id } of approvals)
      expect((await other("POST", `/approvals/${id}`, { decision: "approve" })).status).toBe(200);
    clock.advance(2 * DAY + HOUR);
    // The executor may have started it already, when it looked by itself.
    await startDueRuns();
    queue.wake();
    await untilPassing(async () =>
      expect(new Set(Object.values(await statuses()))).toEqual(new Set(["succeeded"])),
    );
    expect((await call("GET", "/runs/run_cdQonQKWhjUu")).body.output).toBe(true);
    expect((await call("GET", "/runs/run_SSSAN1QwZmx2")).body.output).toBe(2);
    const daily = (await call("GET", "/runs?workflow_id=daily")).body as {
      trigger: string;
      scheduled_for: string;
    }[];
    // Two scheduled times were missed; one run makes up for both.
    expect(daily).toMatchObject([{ trigger: "schedule", scheduled_for: "2026-11-23T06:00:00.000Z" }]);
  });
});
