import { describe, expect, it } from "vitest";
import { startTestExecutor } from "../support/executor.ts";
import { apiClient } from "../support/http.ts";
import { expectProblem, openRest } from "../support/rest.ts";

const schema = {
  type: "object",
  properties: { approved: { type: "boolean" }, order: { type: "integer", minimum: 1 } },
  required: ["approved"],
};
const definition = {
  steps: [
    { id: "link", type: "set", values: { url: "${{ run.event_urls.callback }}" } },
    { id: "callback", type: "wait", event: { schema } },
  ],
  output: "${{ steps.callback.body.approved }}",
};

const formDefinition = {
  steps: [
    {
      id: "callback",
      type: "wait",
      event: {
        schema: {
          type: "object",
          properties: { tag: { type: "array", items: { type: "string" } }, name: { type: "string" } },
        },
      },
    },
  ],
};

/** A run that waits for an event, the path of its URL, and a client without a key. */
async function waiting() {
  const opened = await openRest();
  const executor = await startTestExecutor(opened.instance);
  await opened.call("POST", "/workflows", { name: "Callback", definition });
  const { body: run } = await opened.call("POST", "/workflows/callback/runs", { inputs: {} });
  const proceed = async (): Promise<void> => {
    executor.queue.wake();
    await executor.queue.waitUntilIdle();
  };
  await proceed();
  const { body } = await opened.call("GET", `/runs/${run.id}?step_id=callback`);
  const url = new URL(body.steps[0].event_url as string);
  return { ...opened, server: opened.url, id: run.id as string, url, proceed, anyone: apiClient(opened.url) };
}

describe("POST /events/{token}", () => {
  it("needs no key, answers 202, and lets the run continue", async () => {
    const { call, id, url, proceed, anyone } = await waiting();
    const { body: summary } = await call("GET", `/runs/${id}`);
    expect(summary.next).toContain('event_url of the step "callback"');
    const answer = await anyone("POST", url.pathname, { approved: true });
    expect(answer).toMatchObject({ status: 202, body: { received_at: expect.any(String) } });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    await proceed();
    const { body: run } = await call("GET", `/runs/${id}?detail=steps`);
    expect(run).toMatchObject({ status: "succeeded", output: true });
    expect(run.steps[1]).not.toHaveProperty("event_url");
    expectProblem(await anyone("POST", url.pathname, { approved: true }), "event_received");
  });

  it("takes the digits of a number that a double can't hold, and compares them", async () => {
    const { call, id, url, proceed, anyone } = await waiting();
    const { errors } = expectProblem(
      await anyone("POST", url.pathname, '{ "approved": true, "order": -9007199254740993 }'),
      "invalid_input",
    );
    expect(errors).toMatchObject([{ path: "order", message: "must be at least 1, got -9007199254740993" }]);
    const answer = await anyone("POST", url.pathname, '{ "approved": true, "order": 9007199254740993 }');
    expect(answer.status).toBe(202);
    await proceed();
    const { body: run } = await call("GET", `/runs/${id}?step_id=callback`);
    expect(run.steps[0].output.body).toEqual({ approved: true, order: "9007199254740993" });
  });

  it("has the address that links in mails have", async () => {
    const { call, id, url, server } = await waiting();
    const { body } = await call("GET", `/runs/${id}?step_id=link`);
    expect(body.steps[0].output.url).toBe(url.href);
    expect(url.origin).toBe(server);
  });

  it("refuses a body that does not match with all issues, and stays valid", async () => {
    const { url, anyone } = await waiting();
    const { errors } = expectProblem(
      await anyone("POST", url.pathname, { approved: "yes" }),
      "invalid_input",
    );
    expect(errors).toMatchObject([{ path: "approved", code: "wrong_type" }]);
    expectProblem(await anyone("POST", url.pathname), "invalid_input");
    expectProblem(await anyone("POST", url.pathname, "not json"), "invalid_json");
    expectProblem(
      await anyone("POST", url.pathname, { approved: true, text: "x".repeat(1024 * 1024) }),
      "payload_too_large",
    );
    expect((await anyone("POST", url.pathname, { approved: false })).status).toBe(202);
  });

  it("reads a form, with a list where the schema declares one", async () => {
    const { call, url: server } = await openRest().then(async (opened) => {
      await opened.call("POST", "/workflows", { name: "Form", definition: formDefinition });
      return opened;
    });
    const { body: run } = await call("POST", "/workflows/form/runs", { inputs: {} });
    const { body } = await call("GET", `/runs/${run.id}?step_id=callback`);
    const { pathname } = new URL(body.steps[0].event_url as string);
    const type = { "Content-Type": "application/x-www-form-urlencoded" };
    const refused = await apiClient(server)("POST", pathname, "tag=a&name=x&name=y", type);
    expect(expectProblem(refused, "invalid_input").errors).toMatchObject([
      { path: "name", code: "wrong_type" },
    ]);
    expect((await apiClient(server)("POST", pathname, "tag=a&name=x", type)).status).toBe(202);
  });

  it("refuses a body of which something would be lost, and stays valid", async () => {
    const { url, anyone } = await waiting();
    const { errors } = expectProblem(
      await anyone("POST", url.pathname, '{ "n": 12345678901234567890, "n": 1e9999, "approved": "yes" }'),
      "invalid_input",
    );
    expect(errors).toMatchObject([
      { path: "n", code: "duplicate_key" },
      { path: "n", code: "not_finite" },
      { path: "approved", code: "wrong_type" },
    ]);
    expect((await anyone("POST", url.pathname, { approved: false })).status).toBe(202);
  });

  it("answers 404 to any other token, without telling why, and only allows POST", async () => {
    const { url, anyone, id } = await waiting();
    const details = new Set<string>();
    for (const path of [
      "/events/x",
      // Another last letter than the token has.
      `${url.pathname.slice(0, -1)}${url.pathname.endsWith("_") ? "A" : "_"}`,
      `/events/${id}.callback.${"A".repeat(32)}`,
      `/events/run_none.callback.${"A".repeat(32)}`,
    ])
      details.add(expectProblem(await anyone("POST", path, { approved: true }), "event_not_found").detail);
    expect(details.size).toBe(1);
    for (const method of ["GET", "PUT", "DELETE"]) {
      const answer = await anyone(method, url.pathname);
      expectProblem(answer, "method_not_allowed");
      expect(answer.headers.get("allow")).toBe("POST");
    }
  });

  it("limits the requests of one network", async () => {
    const { url, anyone } = await waiting();
    const statuses: number[] = [];
    for (let count = 0; count < 301; count += 1)
      statuses.push((await anyone("POST", "/events/x", {})).status);
    expect(statuses.slice(0, 300).every((status) => status === 404)).toBe(true);
    expect(statuses[300]).toBe(429);
    const refused = await anyone("POST", url.pathname, { approved: true });
    expectProblem(refused, "rate_limited");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it("is received by any of several servers that share the state", async () => {
    const { instance, call, id, url, proceed } = await waiting();
    const copy = await instance.rest();
    const answers = await Promise.all(
      [copy.url, copy.url].map((at) => apiClient(at)("POST", url.pathname, { approved: true })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 410]);
    await proceed();
    expect((await call("GET", `/runs/${id}`)).body.status).toBe("succeeded");
  });
});
