/** Everybody who causes the run of a webhook is on record, needs the right to run it, and decides nothing in it. */
import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Scope } from "../../schemas/actor.ts";
import { untilPassing } from "../support/eventually.ts";
import { createSqliteFile } from "../support/databases.ts";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory, testInstance, type TestInstance } from "../support/instance.ts";

const ENV = { TEST_HOOK: "hook secret" };
const ASK = { id: "ask", type: "approval", message: "Go on?" };
const SAY = { id: "say", type: "set", values: { x: 1 } };
const SIGNED = { id: "in", type: "webhook", signature: { scheme: "github", secret: "hook" } };
const OPEN = { id: "in", type: "webhook" };
const QUERY = { id: "read", type: "sql", database: "shop", query: "SELECT 1 AS x" };

const signature = (body: string) => ({
  "Content-Type": "application/json",
  "X-Hub-Signature-256": `sha256=${createHmac("sha256", ENV.TEST_HOOK).update(body).digest("hex")}`,
});

/** A server with an executor, and clients with keys of scopes and limits. */
async function place(approvals: object = {}, limits: object = {}) {
  const instance = await testInstance();
  const dataset = createSqliteFile(temporaryDirectory(), "CREATE TABLE t (id)");
  const databases = ["shop", "hr"].map((name) => ({ name, type: "sqlite", dataset }));
  const config = {
    approvals,
    limits,
    databases,
    secrets: [{ name: "hook", key_var: "TEST_HOOK", hosts: [] }],
  };
  const { url } = await instance.rest({ config, env: ENV });
  await instance.executor({ config, env: ENV });
  const client = async (scopes: Scope[], options: Parameters<TestInstance["key"]>[0] = {}) =>
    apiClient(url, (await instance.key({ scopes, ...options })).value);
  const all = await client(["read", "write", "publish", "run", "approve"]);
  const sender = apiClient(url);
  async function publish(definition: object) {
    const created = await all("POST", "/workflows", { name: "Hook", definition });
    expect(created.body.errors).toBeUndefined();
    return all("POST", "/workflows/hook/publish", {});
  }
  const urlOf = async (by = all): Promise<string | undefined> =>
    (await by("GET", "/workflows/hook/triggers")).body.items[0].url;
  async function send(path: string, body = "{}") {
    const sent = await sender("POST", new URL(path).pathname, body, signature(body));
    expect(sent).toMatchObject({ status: 202 });
    return sent.body as { run_id: string; delivery_id: string };
  }
  const ended = (id: string) =>
    untilPassing(async () => {
      const { body } = await all("GET", `/workflows/hook/deliveries/${id}`);
      expect(body.status).not.toBe("received");
      return body;
    });
  const approvalOf = (run: string) =>
    untilPassing(async () => {
      const { body } = await all("GET", `/approvals?run_id=${run}`);
      expect(body.length).toBe(1);
      return body[0].id as string;
    });
  return { instance, url, all, client, publish, urlOf, send, ended, approvalOf };
}

describe("a redelivery", () => {
  it("needs the scope run beside publish", async () => {
    const { client, publish, urlOf, send, ended } = await place();
    await publish({ triggers: [SIGNED], steps: [SAY] });
    const { delivery_id: id } = await send((await urlOf())!);
    await ended(id);
    const again = `/workflows/hook/deliveries/${id}/redeliver`;
    const publisher = await client(["read", "publish"]);
    expect(await publisher("POST", again)).toMatchObject({ status: 403, body: { code: "missing_scope" } });
    const both = await client(["read", "publish", "run"]);
    expect(await both("POST", again)).toMatchObject({ status: 200, body: { redelivered_by: "operator" } });
  });

  it("starts nothing beyond the limits of a key, as run_workflow", async () => {
    const { client, publish, urlOf, send, ended } = await place();
    expect(await publish({ triggers: [SIGNED], steps: [QUERY] })).toMatchObject({ status: 200 });
    const { delivery_id: id } = await send((await urlOf())!);
    await ended(id);
    const scopes: Scope[] = ["read", "publish", "run"];
    const beyond = {
      status: 409,
      body: { code: "workflow_not_runnable", errors: [{ code: "beyond_key_limits" }] },
    };
    const limited = await client(scopes, { limits: { databases: ["hr"] } });
    expect(await limited("POST", "/workflows/hook/runs", {})).toMatchObject(beyond);
    expect(await limited("POST", `/workflows/hook/deliveries/${id}/redeliver`)).toMatchObject(beyond);
    const within = await client(scopes, { limits: { databases: ["shop"] } });
    expect(await within("POST", `/workflows/hook/deliveries/${id}/redeliver`)).toMatchObject({ status: 200 });
  });

  it("that is repeated has the result of the first, also when the key may not start it any more", async () => {
    const { all, client, publish, urlOf, send, ended } = await place();
    await publish({ triggers: [SIGNED], steps: [QUERY] });
    const { delivery_id: id } = await send((await urlOf())!);
    await ended(id);
    const limited = await client(["read", "publish", "run"], { limits: { databases: ["shop"] } });
    const again = () =>
      limited("POST", `/workflows/hook/deliveries/${id}/redeliver`, undefined, { "Idempotency-Key": "once" });
    const first = await again();
    expect(first).toMatchObject({ status: 200 });
    const steps = [{ ...QUERY, database: "hr" }];
    await all("PATCH", "/workflows/hook", { definition: { triggers: [SIGNED], steps } });
    expect(await all("POST", "/workflows/hook/publish", {})).toMatchObject({ status: 200 });
    expect((await again()).body).toEqual(first.body);
  });

  it("counts for who redelivers, and leaves the limits of who published to signed deliveries", async () => {
    const { client, publish, urlOf, send, ended } = await place({}, { per_key: { runs_per_hour: 3 } });
    await publish({ triggers: [SIGNED], steps: [SAY] });
    const url = (await urlOf())!;
    const { delivery_id: id } = await send(url);
    await ended(id);
    const eve = await client(["read", "publish", "run"], { name: "eve" });
    const again = () => eve("POST", `/workflows/hook/deliveries/${id}/redeliver`);
    for (const _ of [1, 2, 3]) await ended((await again()).body.id as string);
    expect(await again()).toMatchObject({ status: 429, body: { code: "too_many_runs" } });
    await ended((await send(url, '{"second":1}')).delivery_id);
    const { run_id: run } = await ended((await send(url, '{"third":1}')).delivery_id);
    expect((await eve("GET", `/runs/${run}`)).body.started_by).toMatchObject({
      key_name: expect.not.stringMatching("eve"),
    });
  });

  it("is on record with its run, whose approval is not decided by who redelivered", async () => {
    const { all, client, publish, urlOf, send, ended, approvalOf } = await place({ by_author: true });
    await publish({ triggers: [SIGNED], steps: [ASK] });
    const { delivery_id: id } = await send((await urlOf())!);
    await ended(id);
    const eve = await client(["read", "publish", "run", "approve"], { name: "eve" });
    const again = (await eve("POST", `/workflows/hook/deliveries/${id}/redeliver`)).body;
    const { run_id: run } = await ended(again.id);
    const { body } = await all("GET", `/runs/${run}`);
    expect(body.caused_by).toEqual([
      { kind: "redelivered", owner: "operator", key_name: "eve", by: again.id },
    ]);
    const approval = await approvalOf(run);
    expect((await eve("GET", `/approvals/${approval}`)).body.you).toMatchObject({ can_decide: false });
    expect(await eve("POST", `/approvals/${approval}`, { decision: "approve" })).toMatchObject({
      status: 403,
      body: { code: "approval_not_yours", detail: expect.stringContaining("You delivered again") },
    });
    const other = await client(["read", "approve"], { name: "other" });
    expect(await other("POST", `/approvals/${approval}`, { decision: "approve" })).toMatchObject({
      status: 200,
    });
  });

  it("of a redelivery is decided by none of those who delivered again", async () => {
    const { all, client, publish, urlOf, send, ended, approvalOf } = await place({ by_author: true });
    await publish({ triggers: [SIGNED], steps: [ASK] });
    let { delivery_id: id } = await send((await urlOf())!);
    await ended(id);
    const scopes: Scope[] = ["read", "publish", "run", "approve"];
    const people = new Map<string, Awaited<ReturnType<typeof client>>>();
    for (const name of ["eve", "dan", "eve", "cy"]) {
      const known = people.get(name);
      const by = known ?? (await client(scopes, { name }));
      people.set(name, by);
      ({ id } = (await by("POST", `/workflows/hook/deliveries/${id}/redeliver`)).body);
      await ended(id);
    }
    const { run_id: run } = await ended(id);
    const { caused_by: causes } = (await all("GET", `/runs/${run}`)).body;
    const names = (causes as { kind: string; key_name: string }[]).map(
      (cause) => `${cause.kind} ${cause.key_name}`,
    );
    expect(names).toEqual(["redelivered eve", "redelivered dan", "redelivered cy"]);
    const approval = await approvalOf(run);
    for (const [, by] of people)
      expect(await by("POST", `/approvals/${approval}`, { decision: "approve" })).toMatchObject({
        status: 403,
        body: { code: "approval_not_yours" },
      });
    const other = await client(["read", "approve"], { name: "other" });
    expect(await other("POST", `/approvals/${approval}`, { decision: "approve" })).toMatchObject({
      status: 200,
    });
  });

  it("does not make a run its own that a retry repeats", async () => {
    const { all, client, publish, urlOf, send, ended, approvalOf } = await place({ by_author: true });
    await publish({ triggers: [SIGNED], steps: [ASK] });
    const { delivery_id: id } = await send((await urlOf())!);
    await ended(id);
    const eve = await client(["read", "publish", "run", "approve"], { name: "eve" });
    const { id: again } = (await eve("POST", `/workflows/hook/deliveries/${id}/redeliver`)).body;
    const { run_id: run } = await ended(again);
    await all("POST", `/runs/${run}/cancel`);
    const retried = await untilPassing(async () => {
      const answer = await all("POST", `/runs/${run}/retry`, { wait: 0 });
      expect(answer.status).toBe(202);
      return answer.body.id as string;
    });
    expect((await eve("GET", `/approvals/${await approvalOf(retried)}`)).body.you).toMatchObject({
      can_decide: false,
    });
  });
});

describe("the URL of a trigger without a signature", () => {
  it.each<[Scope[], object, boolean]>([
    [["read", "write"], {}, false],
    [["read", "run"], {}, false],
    [["read", "write", "run"], {}, true],
    [["read", "write", "run"], { limits: { databases: ["hr"] } }, false],
    [["read", "write", "run"], { limits: { databases: ["shop"] } }, true],
  ])("with the scopes %j and %j is shown: %s", async (scopes, options, isShown) => {
    const { client, publish, urlOf } = await place();
    await publish({ triggers: [OPEN], steps: [QUERY] });
    expect((await urlOf(await client(scopes, options))) !== undefined).toBe(isShown);
  });

  it("is not in the answer to who replaces it without the right to run", async () => {
    const { client, publish } = await place();
    await publish({ triggers: [OPEN], steps: [SAY] });
    const publisher = await client(["read", "write", "publish"]);
    const rotated = await publisher("POST", "/workflows/hook/triggers/in/rotate");
    expect(rotated.status).toBe(200);
    expect(rotated.body.url).toBeUndefined();
  });
});

describe("an approval behind a trigger without a signature", () => {
  const refused = { code: "workflow_not_runnable", errors: [{ code: "unsigned_approval" }] };

  it("is refused when the workflow is published", async () => {
    const { publish } = await place();
    expect(await publish({ triggers: [OPEN], steps: [ASK] })).toMatchObject({ status: 409, body: refused });
  });

  it("is refused too in a called workflow, and in one that runs on failure", async () => {
    const { all, publish } = await place();
    await all("POST", "/workflows", { name: "Asks", definition: { steps: [ASK] } });
    await all("POST", "/workflows/asks/publish", {});
    expect(await publish({ triggers: [OPEN], steps: [SAY], on_failure: "asks" })).toMatchObject({
      status: 409,
      body: refused,
    });
    const call = { id: "sub", type: "workflow", workflow: "asks" };
    await all("PATCH", "/workflows/hook", { definition: { triggers: [OPEN], steps: [call] } });
    expect(await all("POST", "/workflows/hook/publish", {})).toMatchObject({ status: 409, body: refused });
  });

  it("is refused when the run starts, where a called workflow asks only since then", async () => {
    const { all, publish, urlOf, send, instance } = await place();
    await all("POST", "/workflows", { name: "Asks", definition: { steps: [SAY] } });
    await all("POST", "/workflows/asks/publish", {});
    await publish({ triggers: [OPEN], steps: [{ id: "sub", type: "workflow", workflow: "asks" }] });
    await all("PATCH", "/workflows/asks", { definition: { steps: [ASK] } });
    expect(await all("POST", "/workflows/asks/publish", {})).toMatchObject({ status: 200 });
    const { delivery_id: id, run_id: run } = await send((await urlOf())!);
    await untilPassing(async () => {
      const { body } = await all("GET", `/workflows/hook/deliveries/${id}`);
      expect(body).toMatchObject({
        code: "workflow_not_runnable",
        reason: expect.stringContaining("unseen"),
      });
    });
    expect(await instance.read.runs.find(run)).toBeUndefined();
  });

  it("starts nothing of what came without a signature once the trigger has one", async () => {
    const { all, publish, urlOf, send, ended } = await place();
    await all("POST", "/workflows", { name: "Asks", definition: { steps: [SAY] } });
    await all("POST", "/workflows/asks/publish", {});
    await publish({ triggers: [OPEN], steps: [{ id: "sub", type: "workflow", workflow: "asks" }] });
    await all("PATCH", "/workflows/asks", { definition: { steps: [ASK] } });
    await all("POST", "/workflows/asks/publish", {});
    const { delivery_id: id } = await send((await urlOf())!);
    await untilPassing(async () =>
      expect((await all("GET", `/workflows/hook/deliveries/${id}`)).body.code).toBe("workflow_not_runnable"),
    );
    await all("PATCH", "/workflows/hook", { definition: { triggers: [SIGNED], steps: [SAY] } });
    expect(await all("POST", "/workflows/hook/publish", {})).toMatchObject({ status: 200 });
    expect(await ended(id)).toMatchObject({ status: "failed", code: "signature_invalid" });
  });

  it("stays refused in a retry that would add one", async () => {
    const { all, publish, urlOf, send, ended } = await place();
    await publish({ triggers: [OPEN], steps: [SAY] });
    const { run_id: run, delivery_id: id } = await send((await urlOf())!);
    await ended(id);
    const answer = await untilPassing(async () => {
      const retried = await all("POST", `/runs/${run}/retry`, { definition: { steps: [ASK] } });
      expect(retried.body.code).not.toBe("run_not_finished");
      return retried;
    });
    expect(answer).toMatchObject({ status: 409, body: refused });
    expect((await all("GET", `/runs/${run}`)).body.caused_by).toEqual([{ kind: "unsigned" }]);
  });

  it("is allowed where the operator lets those decide who have started a run, and with a signature", async () => {
    const open = await place({ by_starter: true });
    expect(await open.publish({ triggers: [OPEN], steps: [ASK] })).toMatchObject({ status: 200 });
    const signed = await place();
    expect(await signed.publish({ triggers: [SIGNED], steps: [ASK] })).toMatchObject({ status: 200 });
  });
});
