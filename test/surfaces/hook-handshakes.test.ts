import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { apiClient, toApiResponse } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { expectProblem } from "../support/rest.ts";

const CONFIG = {
  secrets: [
    { name: "app", key_var: "TEST_APP", hosts: [] },
    { name: "old", key_var: "TEST_OLD", hosts: [] },
    { name: "verify", key_var: "TEST_VERIFY", hosts: [] },
    { name: "unset", key_var: "TEST_UNSET", hosts: [] },
  ],
};
const ENV = { TEST_APP: "app secret", TEST_OLD: "old secret", TEST_VERIFY: "my verify token" };

const definition = (trigger: object) => ({
  triggers: [{ id: "sent", type: "webhook", deduplicate: "event.body.id", ...trigger }],
  steps: [{ id: "kept", type: "set", values: { done: true } }],
});

async function open() {
  const instance = await testInstance();
  const { url } = await instance.rest({ config: CONFIG, env: ENV });
  const { value: key } = await instance.key({ scopes: ["read", "write", "run", "publish"] });
  return { url, call: apiClient(url, key) };
}

/** A published workflow whose trigger has this handshake, and requests to its URL. */
async function published(trigger: object) {
  const { url, call } = await open();
  const created = await call("POST", "/workflows", { name: "Sent", definition: definition(trigger) });
  expect(created.body.errors).toBeUndefined();
  expect(await call("POST", "/workflows/sent/publish", { version: 1 })).toMatchObject({ status: 200 });
  const { body: triggers } = await call("GET", "/workflows/sent/triggers");
  const path = new URL(triggers.items[0].url as string).pathname;
  const request = (
    method: string,
    search = "",
    init: { headers?: Record<string, string>; body?: string } = {},
  ) => fetch(`${url}${path}${search}`, { method, ...init });
  const problem = async (...sent: Parameters<typeof request>) => toApiResponse(await request(...sent));
  const deliveries = async () => (await call("GET", "/workflows/sent/deliveries?limit=10")).body as unknown[];
  return { url, call, path, request, problem, deliveries };
}

/** Expects an answer that a browser shows as text, wherever it comes from. */
async function expectText(answer: Response, text: string): Promise<void> {
  expect(await answer.text()).toBe(text);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
}

const metaSearch = (token: string): string =>
  `?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${encodeURIComponent(token)}`;

const ZOOM = {
  scheme: "hmac",
  header: "x-zm-signature",
  prefix: "v0=",
  signs: "v0:{timestamp}:{body}",
  timestamp: "x-zm-request-timestamp",
};

const zoomHeaders = (body: string, secret: string): Record<string, string> => {
  const time = String(Math.floor(Date.now() / 1000));
  const digest = createHmac("sha256", secret).update(`v0:${time}:${body}`).digest("hex");
  return { "x-zm-request-timestamp": time, "x-zm-signature": `v0=${digest}` };
};

/** https://dev.twitch.tv/docs/eventsub/handling-webhook-events/#verifying-the-event-message */
const TWITCH = {
  scheme: "hmac",
  header: "Twitch-Eventsub-Message-Signature",
  prefix: "sha256=",
  signs: "{id}{timestamp}{body}",
  timestamp: "Twitch-Eventsub-Message-Timestamp",
  id: "Twitch-Eventsub-Message-Id",
};

const twitchHeaders = (type: string, body: string, secret: string): Record<string, string> => {
  const [id, time] = ["e76c6bd4-55c9-4987-8304-da1588d8988b", new Date().toISOString()];
  const digest = createHmac("sha256", secret).update(`${id}${time}${body}`).digest("hex");
  return {
    "Content-Type": "application/json",
    "Twitch-Eventsub-Message-Id": id,
    "Twitch-Eventsub-Message-Timestamp": time,
    "Twitch-Eventsub-Message-Type": type,
    "Twitch-Eventsub-Message-Signature": `sha256=${digest}`,
  };
};

describe("a trigger without a handshake", () => {
  it("answers HEAD with 200, as Trello expects, and no other method", async () => {
    const { request, problem, url, path, deliveries, call } = await published({});
    const head = await request("HEAD");
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const get = await problem("GET", "?challenge=abc&hub.mode=subscribe&hub.challenge=abc");
    const { detail } = expectProblem(get, "method_not_allowed");
    expect(detail).toContain("handshake");
    expect(JSON.stringify(get.body)).not.toContain("abc");
    expectProblem(await problem("PUT"), "method_not_allowed");
    const options = await request("OPTIONS", "", {
      headers: { "WebHook-Request-Origin": "eventgrid.azure.net" },
    });
    expect(options.headers.get("webhook-allowed-origin")).toBeNull();
    expect((await fetch(`${url}${path.slice(0, -1)}!`, { method: "HEAD" })).status).toBe(404);
    expect(await deliveries()).toEqual([]);
    await call("POST", "/workflows/sent/unpublish");
    expect((await request("HEAD")).status).toBe(404);
  });

  it("repeats nothing that a POST asks it to repeat", async () => {
    const { request } = await published({});
    const answer = await request("POST", "?validationToken=abc", { body: '{"id":1}' });
    expect(answer.status).toBe(202);
    expect(await answer.text()).not.toContain("abc");
  });
});

/** The signature of X over a text. */
const signedByX = (text: string): string =>
  `sha256=${createHmac("sha256", "app secret").update(text).digest("base64")}`;

describe("the handshake of", () => {
  it("Microsoft Graph repeats the validation token as plain text, and is no delivery", async () => {
    const { request, deliveries, problem } = await published({ handshake: { type: "microsoft_graph" } });
    const token = "Validation: Testing client application reachability for subscription Request-Id: <b>1</b>";
    for (const name of ["validationToken", "validationtoken"])
      await expectText(
        await request("POST", `?${name}=${encodeURIComponent(token)}`, {
          headers: { "Content-Type": "text/plain" },
        }),
        token,
      );
    expect(await deliveries()).toEqual([]);
    expect((await request("POST", "", { body: '{"id":1}' })).status).toBe(202);
    for (const unfit of ["x".repeat(1_001), "a%0D%0Ab", "%C3%BC"])
      expectProblem(await problem("POST", `?validationToken=${unfit}`), "invalid_input");
    expectProblem(await problem("GET", "?validationToken=abc"), "method_not_allowed");
  });

  it("Dropbox repeats the challenge of a GET", async () => {
    const { request, problem, deliveries } = await published({ handshake: { type: "dropbox" } });
    await expectText(await request("GET", "?challenge=the_challenge"), "the_challenge");
    expectProblem(await problem("GET"), "method_not_allowed");
    expectProblem(await problem("GET", "?challenge=a&challenge=b"), "method_not_allowed");
    expect(await deliveries()).toEqual([]);
  });

  it("Meta repeats the challenge for the verify token only", async () => {
    const { request, problem } = await published({ handshake: { type: "meta", verify_token: "verify" } });
    await expectText(await request("GET", metaSearch("my verify token")), "1158201444");
    const refused = await problem("GET", metaSearch("another"));
    expectProblem(refused, "signature_invalid");
    expect(JSON.stringify(refused.body)).not.toContain("1158201444");
    expectProblem(await problem("GET", "?hub.mode=subscribe&hub.challenge=1"), "signature_invalid");
    expectProblem(await problem("GET"), "method_not_allowed");
  });

  it("CloudEvents allows the origin that asks, and the rate of a network", async () => {
    const { request } = await published({ handshake: { type: "cloudevents" } });
    const ask = (headers: Record<string, string>) => request("OPTIONS", "", { headers });
    const { status, headers } = await ask({
      "WebHook-Request-Origin": "eventgrid.azure.net",
      "WebHook-Request-Rate": "120",
    });
    expect(status).toBe(200);
    expect(headers.get("webhook-allowed-origin")).toBe("eventgrid.azure.net");
    expect(headers.get("webhook-allowed-rate")).toBe("600");
    expect(headers.get("allow")).toContain("POST");
    const odd = await ask({ "WebHook-Request-Origin": "<script>" });
    expect([odd.status, odd.headers.get("webhook-allowed-origin")]).toEqual([204, null]);
  });

  it("X signs the token of a GET, which no delivery can be", async () => {
    const signature = {
      scheme: "hmac",
      header: "x-twitter-webhooks-signature",
      prefix: "sha256=",
      encoding: "base64",
      secret: ["app", "old"],
    };
    const { request, problem, deliveries } = await published({ signature, handshake: { type: "x" } });
    const token = "MGY5ZjY0ZmItMTRmMC00YWE1LWJhZDQtZWE4NGQ3ZGQ1ZjEz";
    const answer = await request("GET", `?crc_token=${token}`);
    expect([answer.status, await answer.json()]).toEqual([200, { response_token: signedByX(token) }]);
    for (const text of ['{"id":1}', "id=1&a=2", "", "a".repeat(201)])
      expectProblem(await problem("GET", `?crc_token=${encodeURIComponent(text)}`), "method_not_allowed");
    const send = (body: string) =>
      problem("POST", "", { headers: { "x-twitter-webhooks-signature": signedByX(body) }, body });
    for (const text of [token, "123", "id="]) expectProblem(await send(text), "signature_invalid");
    expect(await deliveries()).toMatchObject([{ status: "refused" }]);
    expect((await send('{"id":1}')).status).toBe(202);
  });

  it("Asana gets its secret back in the header, and nothing else", async () => {
    const { request, deliveries } = await published({ handshake: { type: "asana" } });
    const secret = "b537207f20cbfa02357cf448134da559e8bd39d61597dcd5631b8012eae53e81";
    const answer = await request("POST", "", { headers: { "X-Hook-Secret": secret } });
    expect([answer.status, answer.headers.get("x-hook-secret"), await answer.text()]).toEqual([
      200,
      secret,
      "",
    ]);
    const odd = await request("POST", "", { headers: { "X-Hook-Secret": "<b>" }, body: '{"id":1}' });
    expect([odd.status, odd.headers.get("x-hook-secret")]).toEqual([202, null]);
    expect(JSON.stringify(await deliveries())).not.toContain(secret);
  });

  it("Mailchimp gets 200 for a GET", async () => {
    const { request } = await published({ handshake: { type: "get" } });
    expect((await request("GET")).status).toBe(200);
  });

  it("Zoom signs the token of a signed request with the secret that it was signed with", async () => {
    const { request, problem, deliveries } = await published({
      signature: { ...ZOOM, secret: ["app", "old"] },
      handshake: { type: "zoom" },
    });
    const body =
      '{"payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"},"event_ts":1654503849680,"event":"endpoint.url_validation"}';
    for (const secret of ["app secret", "old secret"]) {
      const answer = await request("POST", "", { headers: zoomHeaders(body, secret), body });
      expect([answer.status, await answer.json()]).toEqual([
        200,
        {
          plainToken: "qgg8vlvZRS6UYooatFL8Aw",
          encryptedToken: createHmac("sha256", secret).update("qgg8vlvZRS6UYooatFL8Aw").digest("hex"),
        },
      ]);
    }
    for (const headers of [{}, zoomHeaders(body, "a stranger")]) {
      const refused = await problem("POST", "", { headers, body });
      expectProblem(refused, "signature_invalid");
      expect(JSON.stringify(refused.body)).not.toContain("encryptedToken");
    }
    const statuses = ((await deliveries()) as { status: string }[]).map(({ status }) => status);
    expect([...new Set(statuses)]).toEqual(["refused"]);
  });

  it("Twitch repeats the challenge of a signed verification as plain text", async () => {
    const { request, problem, deliveries } = await published({
      signature: { ...TWITCH, secret: "app" },
      handshake: { type: "twitch" },
    });
    // As the documents of Twitch show it.
    const body =
      '{"challenge":"pogchamp-kappa-360noscope-vohiyo","subscription":{"id":"f1c2a387-161a-49f9-a165-0f21d7a4e1c4","status":"webhook_callback_verification_pending"}}';
    const ask = (secret: string) => ({
      headers: twitchHeaders("webhook_callback_verification", body, secret),
      body,
    });
    await expectText(await request("POST", "", ask("app secret")), "pogchamp-kappa-360noscope-vohiyo");
    expect(await deliveries()).toEqual([]);
    const refused = await problem("POST", "", ask("a stranger"));
    expectProblem(refused, "signature_invalid");
    expect(JSON.stringify(refused.body)).not.toContain("pogchamp");
    const headers = twitchHeaders("notification", '{"id":1,"challenge":"no"}', "app secret");
    expect((await request("POST", "", { headers, body: '{"id":1,"challenge":"no"}' })).status).toBe(202);
  });

  it("a sender that the definition does not allow is refused", async () => {
    const { call } = await open();
    const issuesOf = async (trigger: object): Promise<string[]> => {
      const { body } = await call("POST", "/workflows/validate", { definition: definition(trigger) });
      return (body.errors as { path: string; code: string }[]).map(
        ({ path, code }) => `${path.slice(12)} ${code}`,
      );
    };
    for (const type of ["zoom", "twitch", "x"])
      expect(await issuesOf({ handshake: { type } })).toEqual(["handshake.type not_allowed"]);
    expect(await issuesOf({ handshake: { type: "meta" } })).toEqual(["handshake.verify_token missing"]);
    expect(await issuesOf({ handshake: { type: "get", verify_token: "verify" } })).toEqual([
      "handshake.verify_token not_allowed",
    ]);
    expect(await issuesOf({ handshake: { type: "meta", verify_token: "unset" } })).toEqual([
      "handshake.verify_token signature_secret_not_set",
    ]);
    expect(await issuesOf({ handshake: { type: "meta", verify_token: "verfy" } })).toEqual([
      "handshake.verify_token unknown_signature_secret",
    ]);
  });
});
