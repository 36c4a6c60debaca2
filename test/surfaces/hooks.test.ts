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
    { name: "standard-hook", key_var: "TEST_STANDARD_HOOK", hosts: [] },
  ],
};

const STANDARD_KEY = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ENV = {
  TEST_GITHUB_HOOK: "old secret",
  TEST_NEW_HOOK: "new secret",
  TEST_STANDARD_HOOK: `whsec_${STANDARD_KEY}`,
};

const definition = (trigger: Record<string, unknown> = {}) => ({
  inputs: { type: "object", properties: { ref: { type: "string" } }, required: ["ref"] },
  triggers: [
    {
      id: "pushed",
      type: "webhook",
      signature: { scheme: "github", secret: "github-hook" },
      payload: { type: "object", properties: { ref: { type: "string" } }, required: ["ref"] },
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

const signedStandard = (body: string, id: string): Record<string, string> => {
  const time = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", Buffer.from(STANDARD_KEY, "base64"))
    .update(`${id}.${time}.${body}`)
    .digest("base64");
  return { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": `v1,${signature}` };
};

/** A published workflow with a trigger, and a sender without a key. */
async function published(trigger?: Record<string, unknown>) {
  const instance = await testInstance();
  const { url: server } = await instance.rest({ config: CONFIG, env: ENV });
  const executor = await instance.executor({ config: CONFIG, env: ENV });
  const { value: key } = await instance.key({ scopes: ["read", "write", "run", "publish"] });
  const opened = { instance, url: server, key, call: apiClient(server, key) };
  const created = await opened.call("POST", "/workflows", {
    name: "On push",
    definition: definition(trigger),
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
    expect(run).toMatchObject({
      output: "refs/heads/main",
      trigger: "webhook",
      delivery: { id: first.body.delivery_id, trigger: "pushed", received_at: first.body.received_at },
    });
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
    const ping = await send('{"ref":"ping"}', { "X-GitHub-Event": "ping", "X-GitHub-Delivery": "2" });
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
    await call("PATCH", "/workflows/on-push", {
      definition: definition({ payload: undefined, inputs: { ref: "${{ event.body.order }}" } }),
    });
    await call("POST", "/workflows/on-push/publish", { version: 2 });
    const noText = await send('{"order":1}');
    const { reason } = await outcome(noText.body.delivery_id);
    expect(reason).toBe("inputs.ref must be text, got a number.");
    expect((await call("GET", "/runs?limit=1")).body).toEqual([]);
    const filtered = await call(
      "GET",
      "/workflows/on-push/deliveries?status=filtered&trigger=pushed&limit=1",
    );
    expect(filtered.body).toMatchObject([{ id: ping.body.delivery_id }]);
  });

  it("refuses other signatures, and lists that it did, without the body", async () => {
    const { send, anyone, pathname, call } = await published();
    const text = '{"ref":"main"}';
    const { detail } = expectProblem(await send(text, signed(`${text} `)), "signature_invalid");
    expect(detail).toContain("X-Hub-Signature-256");
    expectProblem(await anyone("POST", pathname, text), "signature_invalid");
    const { body } = await call("GET", "/workflows/on-push/deliveries?limit=10");
    expect(body).toMatchObject([
      {
        status: "refused",
        code: "signature_invalid",
        has_body: false,
        reason: expect.stringContaining("missing"),
      },
      { status: "refused", code: "signature_invalid", has_body: false, reason: detail },
    ]);
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
    expect(detail).not.toContain("old secret");
    expect(answer.headers.get("retry-after")).toBe("60");
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

  it("recognizes repetitions by an expression, and says where it has no value or costs too much", async () => {
    const { send, call, outcome } = await published({
      payload: undefined,
      deduplicate: 'event.body.ref + "/" + event.body.commits.map(c, c.id).join(",")',
    });
    const push = (ids: number[], n = 0) =>
      send(JSON.stringify({ ref: "main", n, commits: ids.map((id) => ({ id: `c${id}` })) }));
    const first = await push([1, 2]);
    expect(await push([1, 2], 1)).toMatchObject({ status: 202, body: first.body });
    expect((await push([1, 3])).body.run_id).not.toBe(first.body.run_id);
    expect(await outcome(first.body.delivery_id)).toMatchObject({ status: "started", repeats: 1 });
    const { detail } = expectProblem(await send('{"ref":"main"}'), "invalid_input");
    expect(detail).toContain("by which repeated deliveries are recognized");
    expectProblem(await push(Array.from({ length: 10_000 }, (_, id) => id)), "invalid_input");
    const { body: refused } = await call("GET", "/workflows/on-push/deliveries?status=refused&limit=1");
    expect(refused).toMatchObject([{ code: "invalid_input" }]);
  });

  it("keeps its URL over versions, is gone while it is not published, and can get another one", async () => {
    const { call, send, pathname, anyone } = await published();
    await call("PATCH", "/workflows/on-push", { description: "The same trigger" });
    await call("POST", "/workflows/on-push/publish", { version: 2 });
    const { body } = await call("GET", "/workflows/on-push/triggers?limit=5");
    expect(
      new URL((await call("GET", "/workflows/on-push/triggers")).body.items[0].url as string).pathname,
    ).toBe(pathname);
    expect(body.code).toBe("invalid_input");
    await call("POST", "/workflows/on-push/unpublish");
    expectProblem(await send('{"ref":"main"}'), "trigger_gone");
    await call("POST", "/workflows/on-push/publish", { version: 2 });
    expect((await send('{"ref":"main"}')).status).toBe(202);
    const rotated = await call("POST", "/workflows/on-push/triggers/pushed/rotate");
    expectProblem(await send('{"ref":"main"}'), "trigger_not_found");
    const fresh = new URL(rotated.body.url as string).pathname;
    expect((await anyone("POST", fresh, '{"ref":"main"}', signed('{"ref":"main"}'))).status).toBe(202);
    for (const path of ["/hooks/x", `${fresh.slice(0, -1)}!`, `/hooks/trg_none.${"A".repeat(32)}`])
      expectProblem(await anyone("POST", path, "{}"), "trigger_not_found");
    expectProblem(await anyone("GET", fresh), "method_not_allowed");
  });

  it("delivers again by hand, to the version that is published now", async () => {
    const { call, send, outcome } = await published({ if: "false" });
    const first = await send('{"ref":"main"}', { "X-GitHub-Delivery": "one" });
    expect(await outcome(first.body.delivery_id)).toMatchObject({ status: "filtered" });
    await call("PATCH", "/workflows/on-push", { definition: definition() });
    await call("POST", "/workflows/on-push/publish", { version: 2 });
    const again = await call("POST", `/workflows/on-push/deliveries/${first.body.delivery_id}/redeliver`);
    expect(again).toMatchObject({ status: 200, body: { redelivery_of: first.body.delivery_id } });
    expect(await outcome(first.body.delivery_id)).toMatchObject({ redeliveries: [again.body.id] });
    expect(await outcome(again.body.id)).toMatchObject({ redeliveries: [] });
    const path = `/workflows/on-push/deliveries/${again.body.id}/redeliver`;
    const twice = await Promise.all(
      [1, 2].map(() => call("POST", path, {}, { "Idempotency-Key": "one-click" })),
    );
    expect(twice[0]!.body.id).toBe(twice[1]!.body.id);
    expect(await outcome(twice[0]!.body.id)).toMatchObject({ status: "started" });
    expect(await outcome(again.body.id)).toMatchObject({ status: "started" });
    const { body } = await call("GET", "/workflows/on-push/deliveries?limit=10");
    expect(body.map(({ status }: { status: string }) => status)).toEqual(["started", "started", "filtered"]);
  });

  it("shows its URL to those only who may change the workflow", async () => {
    const { instance, url } = await published();
    const { value } = await instance.key({ name: "reader", scopes: ["read"] });
    const { body } = await apiClient(url, value)("GET", "/workflows/on-push/triggers");
    expect(body.items).toMatchObject([{ id: "pushed", signature: { scheme: "github" } }]);
    expect(body.items[0]).not.toHaveProperty("url");
  });

  it("reads forms, and refuses what is no JSON and what is too large", async () => {
    const { send, outcome } = await published();
    const form = `payload=${encodeURIComponent('{"ref":"form"}')}`;
    const sent = await send(form, { "Content-Type": "application/x-www-form-urlencoded" });
    expect(await outcome(sent.body.delivery_id)).toMatchObject({ status: "started", body: { ref: "form" } });
    expectProblem(await send("no json"), "invalid_json");
    expectProblem(await send('{"ref":12345678901234567890}'), "invalid_input");
    expectProblem(await send(`"${"x".repeat(1024 * 1024)}"`), "payload_too_large");
    for (const deep of [
      "[".repeat(5_000) + "]".repeat(5_000),
      '{"a":'.repeat(5_000) + "1" + "}".repeat(5_000),
    ])
      expect(await send(deep)).toMatchObject({ status: 400 });
  });
});

describe("a signature of GitHub, which is over the body only", () => {
  it("starts one run, however often its body is sent again with other ids and headers", async () => {
    const { send, call, outcome } = await published();
    const text = '{"ref":"main","after":"1481a2de"}';
    const first = await send(text, { "X-GitHub-Delivery": "one" });
    for (const headers of [
      { "X-GitHub-Delivery": "two" },
      { "X-GitHub-Delivery": "three", "Content-Type": "application/vnd.github+json" },
      {},
    ])
      expect(await send(text, headers)).toMatchObject({ status: 202, body: first.body });
    expect(await outcome(first.body.delivery_id)).toMatchObject({ status: "started", repeats: 3 });
    expect((await call("GET", "/runs?limit=10")).body).toHaveLength(1);
    const other = await send('{"ref":"main","after":"6113728f"}', { "X-GitHub-Delivery": "one" });
    expect(other.body.run_id).not.toBe(first.body.run_id);
  });

  it("can be distinguished by the id of the delivery, where equal bodies are events of their own", async () => {
    const { send } = await published({ deduplicate: 'event.headers["x-github-delivery"]' });
    const [one, two, again] = [
      await send('{"ref":"main"}', { "X-GitHub-Delivery": "one" }),
      await send('{"ref":"main"}', { "X-GitHub-Delivery": "two" }),
      await send('{"ref":"main"}', { "X-GitHub-Delivery": "one" }),
    ];
    expect(again.body).toEqual(one.body);
    expect(two.body.run_id).not.toBe(one.body.run_id);
  });
});

describe("another body under the id of a delivery", () => {
  const standard = { signature: { scheme: "standard_webhooks", secret: "standard-hook" }, if: true };

  it("is refused and listed with its reason, and does not count as a repetition", async () => {
    const { send, call, outcome } = await published(standard);
    const first = await send('{"ref":"main"}', signedStandard('{"ref":"main"}', "msg_1"));
    expect(first.status).toBe(202);
    const other = await send('{"ref":"other"}', signedStandard('{"ref":"other"}', "msg_1"));
    const { detail } = expectProblem(other, "delivery_id_reused");
    expect(other.status).toBe(422);
    expect(detail).toContain(`Another body under the id of the delivery ${first.body.delivery_id}`);
    // Equal JSON is the same body, whatever its blanks are.
    const again = '{ "ref": "main" }';
    expect(await send(again, signedStandard(again, "msg_1"))).toMatchObject({
      status: 202,
      body: first.body,
    });
    expect(await outcome(first.body.delivery_id)).toMatchObject({ status: "started", repeats: 1 });
    const { body } = await call("GET", "/workflows/on-push/deliveries?limit=10");
    expect(body).toMatchObject([
      { status: "refused", code: "delivery_id_reused", sender_id: "msg_1", reason: detail },
      { id: first.body.delivery_id },
    ]);
    expect((await call("GET", "/runs?limit=10")).body).toHaveLength(1);
  });

  it("is refused after the first body was deleted, and the same bytes still count as a repetition", async () => {
    const { send, outcome, instance } = await published(standard);
    const text = '{"ref":"main"}';
    const first = await send(text, signedStandard(text, "msg_1"));
    await outcome(first.body.delivery_id);
    await instance.store.transaction((trx) =>
      trx.updateTable("trigger_deliveries").set({ event: null, stored_bytes: 0 }).execute(),
    );
    expect(await send(text, signedStandard(text, "msg_1"))).toMatchObject({ status: 202, body: first.body });
    const other = await send('{"ref":"other"}', signedStandard('{"ref":"other"}', "msg_1"));
    expectProblem(other, "delivery_id_reused");
  });

  it("is refused too where deduplicate names a header, and not where it names a value of the body", async () => {
    const byHeader = await published({ deduplicate: 'event.headers["x-github-delivery"]' });
    await byHeader.send('{"ref":"main"}', { "X-GitHub-Delivery": "one" });
    expectProblem(
      await byHeader.send('{"ref":"other"}', { "X-GitHub-Delivery": "one" }),
      "delivery_id_reused",
    );
    const byBody = await published({ ...standard, deduplicate: "event.body.ref" });
    const first = await byBody.send('{"ref":"main"}', signedStandard('{"ref":"main"}', "msg_1"));
    const retried = '{"ref":"main","attempt":2}';
    expect(await byBody.send(retried, signedStandard(retried, "msg_1"))).toMatchObject({
      status: 202,
      body: first.body,
    });
  });
});

describe("refused deliveries", () => {
  it("are listed one by one, and counted on the last one of their kind when there are many", async () => {
    const { send, call } = await published();
    const refusals = 30;
    for (let n = 0; n < refusals; n += 1) await send("{}", signed("{}", "wrong"));
    expectProblem(await send("no json"), "invalid_json");
    await untilPassing(async () => {
      const { body } = await call("GET", "/workflows/on-push/deliveries?status=refused&limit=50");
      const unsigned = (body as { code: string; repeats: number }[]).filter(
        ({ code }) => code === "signature_invalid",
      );
      expect(unsigned.length).toBeGreaterThan(5);
      expect(unsigned.length).toBeLessThan(refusals);
      expect(unsigned.reduce((sum, { repeats }) => sum + 1 + repeats, 0)).toBe(refusals);
      expect(body).toHaveLength(unsigned.length + 1);
    });
  });
});

describe("requests that anybody can send who knows the URL", () => {
  it("take nothing from the rate of those that are signed, also from the same network", async () => {
    const { send, anyone, pathname } = await published();
    const statuses = new Set<number>();
    for (let round = 0; round < 65; round += 1)
      for (const { status } of await Promise.all(
        Array.from({ length: 20 }, () => anyone("POST", pathname, "{}")),
      ))
        statuses.add(status);
    expect([...statuses]).toEqual([403, 429]);
    expect(await send('{"ref":"main"}')).toMatchObject({ status: 202 });
    for (let round = 0; round < 30; round += 1)
      await Promise.all(
        Array.from({ length: 20 }, () => send('{"ref":"main"}', { "X-GitHub-Delivery": "one" })),
      );
    const { detail } = expectProblem(await send('{"ref":"main"}'), "rate_limited");
    expect(detail).toContain("This trigger has received more than 600 deliveries in a minute");
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
