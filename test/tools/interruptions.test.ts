/** Interruptions over REST: effects of which nobody knows whether they happened, until a person settles them. */
import { describe, expect, it } from "vitest";
import { Scope } from "../../schemas/actor.ts";
import type { Interruption } from "../../schemas/interruption.ts";
import type { Run } from "../../schemas/run.ts";
import { addInterruption } from "../support/interruption-records.ts";
import { untilPassing } from "../support/eventually.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { mockHttpServer, sendJson } from "../support/mock-http-server.ts";

/** An instance over REST with a bank whose first payment gets no answer, and workflows that pay there. */
async function company() {
  const { url, host, received } = await mockHttpServer((_, response) => {
    if (received.length > 1) sendJson(response, { id: `p${received.length}` });
  });
  const config = { http: { allowed_hosts: [host] } };
  const instance = await testInstance({ config });
  const rest = await instance.rest({ config });
  const client = async (...scopes: Scope[]) => apiClient(rest.url, (await instance.key({ scopes })).value);
  const call = await client(...Scope.options);
  for (const on_interrupted of ["ask", "fail", "retry"]) {
    const pay = { id: "pay", type: "http", method: "POST", url: `${url}/pay`, on_interrupted };
    const definition = { steps: [pay], output: { paid: "${{ steps.pay.body.id }}" } };
    await call("POST", "/workflows", { name: on_interrupted, definition });
  }
  const findRun = async (id: string) => (await call<Run>("GET", `/runs/${id}`)).body;
  /** Runs a workflow whose executor stops in the payment, and lets another one go on until the run has this status. */
  async function interrupted(workflow: string, status: Run["status"]) {
    const first = await instance.executor({ config });
    const { body: run } = await call<Run>("POST", `/workflows/${workflow}/runs`, { wait: 0 });
    await untilPassing(() => expect(received).toHaveLength(1));
    await first.stop(0);
    await instance.executor({ config });
    await reaches(run.id, status);
    const [interruption] = await list(`run_id=${run.id}`);
    return { run: await findRun(run.id), interruption: interruption! };
  }
  const reaches = async (id: string, status: Run["status"]): Promise<Run> => {
    await untilPassing(async () => expect((await findRun(id)).status).toBe(status));
    return findRun(id);
  };
  const list = async (query = "") => (await call<Interruption[]>("GET", `/interruptions?${query}`)).body;
  const find = async (id: string) => (await call<Interruption>("GET", `/interruptions/${id}`)).body;
  const settle = (id: string, body: object, headers: Record<string, string> = {}, as = call) =>
    as("POST", `/interruptions/${id}/settle`, body, headers);
  return { instance, client, call, received, findRun, interrupted, reaches, list, find, settle };
}

const HAPPENED = {
  outcome: "happened",
  output: { status_code: 201, body: { id: "p0" } },
  comment: "In the ledger.",
};

describe("a run that waits until its interruption is settled", () => {
  it("says so with what to do, and its interruption is found and listed", async () => {
    const { call, received, interrupted, list, find } = await company();
    const { run, interruption } = await interrupted("ask", "waiting");
    expect(interruption).toMatchObject({
      run_id: run.id,
      workflow_id: "ask",
      step_id: "pay",
      attempt: 1,
      reason: "executor_ended",
      idempotency_key: received[0]!.headers["idempotency-key"],
      waiting: true,
      lookup: null,
      outcome: null,
      settled_at: null,
      settled_by: null,
      comment: null,
    });
    expect(await find(interruption.id)).toEqual(interruption);
    expect(run).toMatchObject({ open_interruptions: 1, interruptions: [interruption] });
    expect(run.next).toBe(
      `It waits for a person: did the effect of "pay" happen? POST /interruptions/${interruption.id}/settle, or the page of the run. ` +
        "Do not start another run for the same: it would be a second effect.",
    );
    expect((await call("GET", "/runs")).body).toMatchObject([{ id: run.id, open_interruptions: 1 }]);
    expect((await call("GET", "/workflows/ask/runs")).body).toMatchObject([{ open_interruptions: 1 }]);
    expect(await list("status=settled")).toEqual([]);
    expect(received).toHaveLength(1);
  });

  it.each([
    [HAPPENED, "succeeded", { paid: "p0" }, 1],
    [{ outcome: "happened" }, "succeeded", { paid: null }, 1],
    [{ outcome: "not_happened" }, "succeeded", { paid: "p2" }, 2],
    [{ outcome: "unknown" }, "failed", undefined, 1],
  ] as const)("goes on as the person says: %j", async (said, status, output, sent) => {
    const { received, interrupted, reaches, find, settle } = await company();
    const { run, interruption } = await interrupted("ask", "waiting");
    const settled = await settle(interruption.id, said);
    expect(settled).toMatchObject({
      status: 200,
      body: { id: interruption.id, outcome: said.outcome, settled_by: "operator (test)", waiting: false },
    });
    const ended = await reaches(run.id, status);
    expect(ended.output).toEqual(output);
    expect(ended).not.toHaveProperty("open_interruptions");
    expect(ended).not.toHaveProperty("interruptions");
    expect(received).toHaveLength(sent);
    expect(await find(interruption.id)).toEqual(settled.body);
  });
});

describe("an interruption of a run that has ended", () => {
  it("stays open until it is settled, also where the run has succeeded", async () => {
    const { interrupted, findRun, settle, list } = await company();
    const { run, interruption } = await interrupted("retry", "succeeded");
    expect(run).toMatchObject({ open_interruptions: 1, interruptions: [{ waiting: false }] });
    expect(run.next).toMatch(/^Whether the effect of an attempt of "pay" happened is not known\./);
    expect((await settle(interruption.id, { outcome: "not_happened" })).status).toBe(200);
    expect(await findRun(run.id)).not.toHaveProperty("open_interruptions");
    expect(await list()).toEqual([]);
    expect(await list("status=settled")).toMatchObject([{ id: interruption.id, outcome: "not_happened" }]);
  });

  it("gives its output to a retry of the run, which sends nothing", async () => {
    const { call, received, interrupted, reaches, settle } = await company();
    const { run, interruption } = await interrupted("fail", "failed");
    expect(run.error).toMatchObject({ code: "interrupted", step_id: "pay" });
    expect(run.error!.fix).toContain(`POST /interruptions/${interruption.id}/settle`);
    await settle(interruption.id, HAPPENED);
    const { body: retry } = await call<Run>("POST", `/runs/${run.id}/retry`, { confirm: true });
    expect((await reaches(retry.id, "succeeded")).output).toEqual({ paid: "p0" });
    expect(received).toHaveLength(1);
  });
});

describe("a run that failed because of an interruption", () => {
  it("says what to do by how it is settled now, also in the fix of its error", async () => {
    for (const [outcome, expected] of [
      ["happened", /^The effect of "pay" happened, .+: retry_run takes its output, and sends nothing\.$/],
      ["not_happened", /^The effect of "pay" did not happen, .+: retry_run sends it\.$/],
      [
        "unknown",
        /^Nobody could find out .+ so it may happen twice: ask a person before you send confirm\.$/,
      ],
    ] as const) {
      const { interrupted, findRun, settle } = await company();
      const { run, interruption } = await interrupted("fail", "failed");
      expect(run.next).toContain(
        `settles ${interruption.id} (POST /interruptions/${interruption.id}/settle)`,
      );
      await settle(interruption.id, { outcome });
      const { next, error } = await findRun(run.id);
      expect([next, error!.fix]).toEqual([
        expect.stringMatching(expected) as string,
        expect.stringMatching(expected) as string,
      ]);
    }
  });

  it("says so in a retry that failed because it is open", async () => {
    const { call, interrupted, reaches } = await company();
    const { run, interruption } = await interrupted("fail", "failed");
    const { body: retry } = await call<Run>("POST", `/runs/${run.id}/retry`, { confirm: true });
    expect((await reaches(retry.id, "failed")).next).toContain(`settles ${interruption.id}`);
  });
});

describe("list_interruptions", () => {
  it("filters by status, run, workflow and project, and goes on page after page", async () => {
    const { instance, call, list } = await company();
    const ids: string[] = [];
    for (const workflow of ["ask", "ask", "fail"]) {
      const { body: run } = await call<Run>("POST", `/workflows/${workflow}/runs`, { wait: 0 });
      ids.push(await addInterruption(instance, run.id));
    }
    const [first, second, third] = ids as [string, string, string];
    const idsOf = async (query: string) => (await list(query)).map(({ id }) => id).toSorted();
    await call("POST", `/interruptions/${second}/settle`, { outcome: "unknown" });
    expect(await idsOf("")).toEqual([first, third].toSorted());
    expect(await idsOf("status=settled")).toEqual([second]);
    expect(await idsOf("status=all")).toEqual(ids.toSorted());
    expect(await idsOf("workflow_id=ask&status=all")).toEqual([first, second].toSorted());
    expect(await idsOf("project=default")).toEqual([first, third].toSorted());
    expect(await idsOf(`run_id=${first.replace("int_", "run_")}`)).toEqual([first]);
    const page = await call<Interruption[]>("GET", "/interruptions?status=all&limit=2");
    const [, next] = /<([^>]+)>; rel="next"/.exec(page.headers.get("link")!)!;
    const rest = await call<Interruption[]>("GET", next!);
    expect([...page.body, ...rest.body].map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect([page.body.length, page.headers.get("x-total-count")]).toEqual([2, "3"]);
    expect(rest.headers.get("link")).toBeNull();
  });
});

describe("settle_interruption", () => {
  it("takes an output only for what happened, up to a size", async () => {
    const { interrupted, settle, find } = await company();
    const { interruption } = await interrupted("ask", "waiting");
    for (const outcome of ["not_happened", "unknown"])
      expect(await settle(interruption.id, { outcome, output: {} })).toMatchObject({
        status: 400,
        body: { code: "invalid_input", errors: [{ path: "output" }] },
      });
    const large = { outcome: "happened", output: { body: "x".repeat(100_000) } };
    expect(await settle(interruption.id, large)).toMatchObject({
      status: 400,
      body: { code: "invalid_input" },
    });
    const misnamed = await settle(interruption.id, { outcome: "happened", output: { id: "p0", body: {} } });
    expect(misnamed).toMatchObject({
      status: 400,
      body: { errors: [{ path: "output.id", allowed: ["status_code", "headers", "body"] }] },
    });
    expect((await find(interruption.id)).outcome).toBeNull();
  });

  it("settles once, and says to others who did", async () => {
    const { interrupted, settle } = await company();
    const { interruption } = await interrupted("ask", "waiting");
    await settle(interruption.id, HAPPENED);
    const again = await settle(interruption.id, { outcome: "not_happened" });
    expect(again).toMatchObject({ status: 409, body: { code: "interruption_settled" } });
    expect(again.body.detail).toMatch(/ by operator \(test\): happened\.$/);
  });

  it("answers the same to the same Idempotency-Key, and does nothing twice", async () => {
    const { interrupted, settle } = await company();
    const { interruption } = await interrupted("ask", "waiting");
    const key = { "Idempotency-Key": "once" };
    const first = await settle(interruption.id, HAPPENED, key);
    expect((await settle(interruption.id, HAPPENED, key)).body).toEqual(first.body);
    expect(await settle(interruption.id, { outcome: "unknown" }, key)).toMatchObject({
      body: { code: "idempotency_key_reused" },
    });
  });

  it("is refused without the scope approve, and for a key that is limited to other workflows", async () => {
    const { instance, client, interrupted, settle, find } = await company();
    const { interruption } = await interrupted("ask", "waiting");
    const refused = await settle(interruption.id, HAPPENED, {}, await client("read", "run", "write"));
    expect(refused).toMatchObject({ status: 403, body: { code: "missing_scope" } });
    const rest = (await instance.rest()).url;
    const limited = async (workflow: string) => {
      const { value } = await instance.key({
        scopes: ["read", "approve"],
        limits: { workflows: [workflow] },
      });
      return apiClient(rest, value);
    };
    const other = await limited("fail");
    expect(await settle(interruption.id, HAPPENED, {}, other)).toMatchObject({ status: 404 });
    expect((await other("GET", "/interruptions")).body).toEqual([]);
    expect((await find(interruption.id)).outcome).toBeNull();
    const own = await limited("ask");
    expect((await own("GET", "/interruptions")).body).toMatchObject([{ id: interruption.id }]);
    expect((await settle(interruption.id, HAPPENED, {}, own)).status).toBe(200);
  });

  it("is in the audit log with the run, the step and the outcome, without the output", async () => {
    const { call, interrupted, settle } = await company();
    const { run, interruption } = await interrupted("ask", "waiting");
    await settle(interruption.id, HAPPENED);
    const { body: entries } = await call("GET", "/audit-log?operation=settle_interruption");
    expect(entries).toMatchObject([
      {
        operation: "settle_interruption",
        target: interruption.id,
        owner: "operator",
        details: { run_id: run.id, step_id: "pay", outcome: "happened", output: true },
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain("status_code");
  });
});
