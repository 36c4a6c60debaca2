import { createHmac } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { noMeter } from "../../src/core/meter.ts";
import { untilPassing } from "../support/eventually.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { expectProblem } from "../support/rest.ts";

const CONFIG = {
  secrets: [
    { name: "github-hook", key_var: "TEST_GITHUB_HOOK", hosts: [] },
    { name: "new-hook", key_var: "TEST_NEW_HOOK", hosts: [] },
    { name: "missing-hook", key_var: "TEST_MISSING_HOOK", hosts: [] },
  ],
};

const ENV = { TEST_GITHUB_HOOK: "old secret", TEST_NEW_HOOK: "new secret" };

const definition = (trigger: Record<string, unknown> = {}, ref: object = { type: "string" }) => ({
  inputs: { type: "object", properties: { ref }, required: ["ref"] },
  triggers: [
    {
      id: "pushed",
      type: "webhook",
      signature: { scheme: "github", secret: "github-hook" },
      payload: { type: "object", properties: { ref }, required: ["ref"] },
      if: 'event.headers["x-github-event"] == "push"',
      inputs: { ref: "${{ event.body.ref }}" },
      ...trigger,
    },
  ],
  steps: [{ id: "echo", type: "set", values: { ref: "${{ inputs.ref }}" } }],
  output: "${{ steps.echo.ref }}",
});

const signed = (body: string, secret = "old secret"): Record<string, string> => ({
  "Content-Type": "application/json",
  "X-Hub-Signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  "X-GitHub-Event": "push",
});

/** A published workflow with a trigger, and a sender without a key. */
async function published(trigger?: Record<string, unknown>, ref?: object) {
  const instance = await testInstance();
  const { url: server } = await instance.rest({ config: CONFIG, env: ENV });
  const executor = await instance.executor({ config: CONFIG, env: ENV });
  const { value: key } = await instance.key({ scopes: ["read", "write", "run", "publish"] });
  const opened = { instance, url: server, key, call: apiClient(server, key) };
  const created = await opened.call("POST", "/workflows", {
    name: "On push",
    definition: definition(trigger, ref),
  });
  expect(created.body.errors).toBeUndefined();
  const publication = await opened.call("POST", "/workflows/on-push/publish", { version: 1 });
  expect(publication).toMatchObject({ status: 200 });
  const { body } = await opened.call("GET", "/workflows/on-push/triggers");
  const { pathname } = new URL(body.items[0].url as string);
  const anyone = apiClient(opened.url);
  const send = (text: string, headers: Record<string, string> = {}) =>
    anyone("POST", pathname, text, { ...signed(text), ...headers });
  const outcome = (id: string) =>
    untilPassing(async () => {
      const { body: delivery } = await opened.call("GET", `/workflows/on-push/deliveries/${id}`);
      expect(delivery.status).not.toBe("received");
      return delivery;
    });
  return { ...opened, executor, pathname, anyone, send, outcome };
}

describe("POST /hooks/{token}", () => {
  it("starts a run with inputs from the body, and answers repetitions with the same run", async () => {
    const { call, send, outcome } = await published();
    const text = '{"ref":"refs/heads/main"}';
    const first = await send(text, { "X-GitHub-Delivery": "72d3162e" });
    expect(first).toMatchObject({ status: 202, body: { run_id: expect.stringMatching(/^run_/) } });
    const second = await send(text, { "X-GitHub-Delivery": "72d3162e" });
    expect(second).toMatchObject({ status: 202, body: first.body });
    const delivery = await outcome(first.body.delivery_id);
    expect(delivery).toMatchObject({
      status: "started",
      run_id: first.body.run_id,
      repeats: 1,
      sender_id: "72d3162e",
      body: { ref: "refs/heads/main" },
    });
    expect(JSON.stringify(delivery.headers)).not.toContain("sha256");
    const run = await untilPassing(async () => {
      const { body } = await call("GET", `/runs/${first.body.run_id}`);
      expect(body.status).toBe("succeeded");
      return body;
    });
    expect(run).toMatchObject({ output: "refs/heads/main", trigger: "webhook" });
    const { body: runs } = await call("GET", "/runs?trigger=webhook&limit=10");
    expect(runs).toHaveLength(1);
  });

  it("meters what it answers, and what became of what it recorded", async () => {
    const received = vi.spyOn(noMeter, "triggerDeliveryReceived");
    const ended = vi.spyOn(noMeter, "triggerDeliveryEnded");
    onTestFinished(() => [received, ended].forEach((spy) => spy.mockRestore()));
    const { send, outcome } = await published();
    const text = '{"ref":"refs/heads/main"}';
    const first = await send(text, { "X-GitHub-Delivery": "1" });
    await outcome(first.body.delivery_id);
    await send(text, { "X-GitHub-Delivery": "1" });
    await send(text, signed(text, "another secret"));
    const ping = await send(text, { "X-GitHub-Event": "ping", "X-GitHub-Delivery": "2" });
    await outcome(ping.body.delivery_id);
    const failing = await send("{}", { "X-GitHub-Delivery": "3" });
    await outcome(failing.body.delivery_id);
    expect(received.mock.calls.flat()).toEqual(["recorded", "repeated", "refused", "recorded", "recorded"]);
    await expect.poll(() => ended.mock.calls.flat()).toEqual(["started", "filtered", "failed"]);
  });

  it("starts nothing where `if` is false, and says why where the inputs can't be made", async () => {
    const { send, outcome, call } = await published();
    const ping = await send('{"zen":"Design for failure."}', { "X-GitHub-Event": "ping" });
    expect(await outcome(ping.body.delivery_id)).toMatchObject({ status: "filtered", run_id: null });
    const wrong = await send('{"ref":1}');
    expect(await outcome(wrong.body.delivery_id)).toMatchObject({
      status: "failed",
      code: "payload_invalid",
      reason: expect.stringContaining("body.ref"),
    });
    expect((await call("GET", "/runs?limit=1")).body).toEqual([]);
    const filtered = await call(
      "GET",
      "/workflows/on-push/deliveries?status=filtered&trigger=pushed&limit=1",
    );
    expect(filtered.body).toMatchObject([{ id: ping.body.delivery_id }]);
  });

  it("evaluates a repeated delivery again where the first one started nothing", async () => {
    const { call, send, outcome } = await published();
    const one = { "X-GitHub-Delivery": "one" };
    const filtered = await send('{"ref":"main"}', { ...one, "X-GitHub-Event": "ping" });
    expect(await outcome(filtered.body.delivery_id)).toMatchObject({ status: "filtered" });
    const failed = await send('{"ref":1}', one);
    expect(await outcome(failed.body.delivery_id)).toMatchObject({
      status: "failed",
      sender_id: "one",
      redelivery_of: filtered.body.delivery_id,
      redelivered_by: null,
    });
    const started = await send('{"ref":"main"}', one);
    expect(await outcome(started.body.delivery_id)).toMatchObject({
      status: "started",
      run_id: started.body.run_id,
      redelivery_of: failed.body.delivery_id,
    });
    const repeated = await send('{"ref":"main"}', one);
    expect(repeated.body).toEqual(started.body);
    expect((await call("GET", "/runs?limit=10")).body).toHaveLength(1);
  });

  it("answers with the run of a delivery that was delivered again by hand when its sender repeats it", async () => {
    const { call, send, outcome } = await published({ if: "false" });
    const one = { "X-GitHub-Delivery": "one" };
    const first = await send('{"ref":"main"}', one);
    expect(await outcome(first.body.delivery_id)).toMatchObject({ status: "filtered" });
    await call("PATCH", "/workflows/on-push", { definition: definition() });
    await call("POST", "/workflows/on-push/publish", { version: 2 });
    const path = `/workflows/on-push/deliveries/${first.body.delivery_id}/redeliver`;
    const byHand = await call("POST", path);
    const { run_id: run } = await outcome(byHand.body.id);
    const repeated = await send('{"ref":"main"}', one);
    expect(repeated.body).toMatchObject({ delivery_id: byHand.body.id, run_id: run });
    const second = await call("POST", path);
    expect(await outcome(second.body.id)).toMatchObject({ status: "started" });
    expect((await call("GET", "/runs?limit=10")).body).toHaveLength(2);
  });

  it("refuses other signatures, and lists that it did, without the body", async () => {
    const { send, anyone, pathname, call } = await published();
    const text = '{"ref":"main"}';
    const { detail } = expectProblem(await send(text, signed(`${text} `)), "signature_invalid");
    expect(detail).toContain("X-Hub-Signature-256");
    expectProblem(await anyone("POST", pathname, text), "signature_invalid");
    const { body } = await call("GET", "/workflows/on-push/deliveries?limit=10");
    expect(body).toMatchObject([{ status: "refused", code: "signature_invalid", has_body: false }]);
    expectProblem(
      await call("POST", `/workflows/on-push/deliveries/${body[0].id}/redeliver`),
      "trigger_delivery_not_stored",
    );
    expect((await call("GET", "/runs?limit=1")).body).toEqual([]);
  });

  it("accepts the new and the old secret while one is replaced by the other", async () => {
    const { send } = await published({
      signature: { scheme: "github", secret: ["new-hook", "github-hook"] },
    });
    for (const secret of ["old secret", "new secret"])
      expect((await send('{"ref":"main"}', signed('{"ref":"main"}', secret))).status).toBe(202);
    expectProblem(await send("{}", signed("{}", "a third one")), "signature_invalid");
  });

  it("answers 503 while its secret has no value, so that senders try again", async () => {
    const { call, instance, pathname } = await published();
    const other = definition({ signature: { scheme: "github", secret: "missing-hook" } });
    const { body } = await call("POST", "/workflows/validate", { definition: other });
    expect(body.errors).toMatchObject([
      { path: "triggers[0].signature.secret", code: "signature_secret_not_set" },
    ]);
    const { url } = await instance.rest({ config: CONFIG });
    const answer = await apiClient(url)("POST", pathname, "{}", signed("{}"));
    const { detail } = expectProblem(answer, "secret_unavailable");
    // The sender is a stranger.
    expect(detail).not.toMatch(/old secret|github-hook|GITHUB_HOOK/);
    expect(answer.headers.get("retry-after")).toBe("60");
  });

  it("accepts one secret while the other of two has no value", async () => {
    const { instance, pathname } = await published({
      signature: { scheme: "github", secret: ["new-hook", "github-hook"] },
    });
    const { url } = await instance.rest({ config: CONFIG, env: { TEST_GITHUB_HOOK: "old secret" } });
    const text = '{"ref":"main"}';
    expect((await apiClient(url)("POST", pathname, text, signed(text))).status).toBe(202);
  });

  it("starts one run of deliveries that arrive at the same time, with the value that deduplicate names", async () => {
    const { send, call } = await published({ deduplicate: "event.body.ref" });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => send(`{"ref":"main","n":${index}}`)),
    );
    expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1);
    await untilPassing(async () => {
      expect((await call("GET", "/runs?limit=10")).body).toMatchObject([{ status: "succeeded" }]);
    });
    expectProblem(await send("{}"), "invalid_input");
  });

  it("keeps its URL over versions, gets 404 while it is not published and 410 once it is archived, and can get another one", async () => {
    const { call, send, pathname, anyone } = await published();
    await call("PATCH", "/workflows/on-push", { description: "The same trigger" });
    await call("POST", "/workflows/on-push/publish", { version: 2 });
    const { body } = await call("GET", "/workflows/on-push/triggers?limit=5");
    expect(
      new URL((await call("GET", "/workflows/on-push/triggers")).body.items[0].url as string).pathname,
    ).toBe(pathname);
    expect(body.code).toBe("invalid_input");
    await call("POST", "/workflows/on-push/unpublish");
    expectProblem(await send('{"ref":"main"}'), "trigger_not_published");
    await call("POST", "/workflows/on-push/publish", { version: 2 });
    expect((await send('{"ref":"main"}')).status).toBe(202);
    const rotated = await call("POST", "/workflows/on-push/triggers/pushed/rotate");
    expectProblem(await send('{"ref":"main"}'), "trigger_not_found");
    const fresh = new URL(rotated.body.url as string).pathname;
    expect((await anyone("POST", fresh, '{"ref":"main"}', signed('{"ref":"main"}'))).status).toBe(202);
    for (const path of ["/hooks/x", `${fresh.slice(0, -1)}!`, `/hooks/trg_none.${"A".repeat(32)}`])
      expectProblem(await anyone("POST", path, "{}"), "trigger_not_found");
    expectProblem(await anyone("GET", fresh), "method_not_allowed");
    await call("DELETE", "/workflows/on-push");
    expectProblem(await anyone("POST", fresh, "{}"), "trigger_gone");
  });

  it("delivers again by hand, to the version that is published now", async () => {
    const { call, send, outcome } = await published({ if: "false" });
    const first = await send('{"ref":"main"}', { "X-GitHub-Delivery": "one" });
    expect(await outcome(first.body.delivery_id)).toMatchObject({ status: "filtered" });
    await call("PATCH", "/workflows/on-push", { definition: definition() });
    await call("POST", "/workflows/on-push/publish", { version: 2 });
    const again = await call("POST", `/workflows/on-push/deliveries/${first.body.delivery_id}/redeliver`);
    expect(again).toMatchObject({ status: 200, body: { redelivery_of: first.body.delivery_id } });
    expect(await outcome(again.body.id)).toMatchObject({ status: "started" });
    const { body } = await call("GET", "/workflows/on-push/deliveries?limit=10");
    expect(body.map(({ status }: { status: string }) => status)).toEqual(["started", "filtered"]);
  });

  it("shows its URL to those only who may change the workflow", async () => {
    const { instance, url } = await published();
    const { value } = await instance.key({ name: "reader", scopes: ["read"] });
    const { body } = await apiClient(url, value)("GET", "/workflows/on-push/triggers");
    expect(body.items).toMatchObject([{ id: "pushed", signature: { scheme: "github" } }]);
    expect(body.items[0]).not.toHaveProperty("url");
  });

  it("starts a run with the digits of a number that a double can't hold", async () => {
    const { call, send, outcome } = await published({}, { type: "integer", minimum: 1 });
    const sent = await send('{"ref":9007199254740993}');
    expect(await outcome(sent.body.delivery_id)).toMatchObject({
      status: "started",
      body: { ref: "9007199254740993" },
    });
    const output = await untilPassing(async () => {
      const { body } = await call("GET", `/runs/${sent.body.run_id}`);
      expect(body.status).toBe("succeeded");
      return body.output as unknown;
    });
    expect(output).toBe("9007199254740993");
    const below = await send('{"ref":-9007199254740993}');
    expect(await outcome(below.body.delivery_id)).toMatchObject({ status: "failed" });
  });

  it("reads forms, and refuses what is no JSON and what is too large", async () => {
    const { send, outcome } = await published();
    const form = `payload=${encodeURIComponent('{"ref":"form"}')}`;
    const sent = await send(form, { "Content-Type": "application/x-www-form-urlencoded" });
    expect(await outcome(sent.body.delivery_id)).toMatchObject({ status: "started", body: { ref: "form" } });
    expectProblem(await send("no json"), "invalid_json");
    expectProblem(await send('{"ref":1e4000}'), "invalid_input");
    expectProblem(await send(`"${"x".repeat(1024 * 1024)}"`), "payload_too_large");
  });
});

describe("the trigger of Slack", () => {
  it("answers the challenge with which Slack checks the URL, once its signature is right", async () => {
    const { anyone, pathname } = await published({
      signature: { scheme: "slack", secret: "new-hook" },
      if: true,
      payload: {},
    });
    const send = (body: string, secret = "new secret") => {
      const time = String(Math.floor(Date.now() / 1000));
      const digest = createHmac("sha256", secret).update(`v0:${time}:${body}`).digest("hex");
      return anyone("POST", pathname, body, {
        "X-Slack-Request-Timestamp": time,
        "X-Slack-Signature": `v0=${digest}`,
      });
    };
    const body =
      '{"type":"url_verification","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}';
    expect(await send(body)).toMatchObject({
      status: 200,
      body: { challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P" },
    });
    expectProblem(await send(body, "another"), "signature_invalid");
  });
});

describe("POST /events/{token} with a signature and match", () => {
  it("is ended only by an event that is signed and matches", async () => {
    const instance = await testInstance();
    const { url } = await instance.rest({ config: CONFIG, env: ENV });
    await instance.executor({ config: CONFIG, env: ENV });
    const { value } = await instance.key({ scopes: ["read", "write", "run"] });
    const call = apiClient(url, value);
    const event = {
      schema: { type: "object", properties: { order: { type: "integer" } }, required: ["order"] },
      signature: { scheme: "github", secret: "github-hook" },
      match: "event.body.order == inputs.order",
    };
    await call("POST", "/workflows", {
      name: "Callback",
      definition: {
        inputs: { type: "object", properties: { order: { type: "integer" } }, required: ["order"] },
        steps: [{ id: "paid", type: "wait", event, timeout: "1h" }],
        output: "${{ steps.paid.body.order }}",
      },
    });
    const wrong = await call("POST", "/workflows/validate", {
      definition: {
        steps: [{ id: "paid", type: "wait", event: { ...event, match: "event.body.ordr == 1" } }],
      },
    });
    expect(wrong.body.errors).toMatchObject([{ path: "steps[0].event.match", did_you_mean: "order" }]);
    const { body: run } = await call("POST", "/workflows/callback/runs", { inputs: { order: 17 } });
    const path = await untilPassing(async () => {
      const { body } = await call("GET", `/runs/${run.id}?step_id=paid`);
      expect(body.status).toBe("waiting");
      return new URL(body.steps[0].event_url as string).pathname;
    });
    const send = (body: string, headers = signed(body)) => apiClient(url)("POST", path, body, headers);
    expectProblem(await send('{"order":17}', signed('{"order":1}')), "signature_invalid");
    expect((await send('{"order":16}')).status).toBe(202);
    await untilPassing(async () => {
      expect((await send('{"order":17}')).status).toBe(202);
    });
    await untilPassing(async () => {
      const { body } = await call("GET", `/runs/${run.id}`);
      expect(body).toMatchObject({ status: "succeeded", output: 17 });
    });
    expectProblem(await send('{"order":17}'), "event_received");
  });
});
