import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { untilPassing } from "../support/eventually.ts";
import { apiClient, toApiResponse } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { expectProblem } from "../support/rest.ts";

const CONFIG = {
  secrets: [
    { name: "hook", key_var: "TEST_HOOK", hosts: [] },
    { name: "unpadded", key_var: "TEST_UNPADDED", hosts: [] },
    { name: "blank", key_var: "TEST_BLANK", hosts: [] },
    { name: "words", key_var: "TEST_WORDS", hosts: [] },
  ],
};
const ENV = {
  TEST_HOOK: "quiet secret",
  TEST_UNPADDED: "whsec_YWJjZGU",
  TEST_BLANK: "  ",
  TEST_WORDS: "wörter",
};

const hmac = (content: string, algorithm = "sha256", secret = "quiet secret") =>
  createHmac(algorithm, secret).update(content);

const definition = (signature: object, fields: object = {}) => ({
  triggers: [{ id: "sent", type: "webhook", signature: { secret: "hook", ...signature }, ...fields }],
  steps: [{ id: "kept", type: "set", values: { done: true } }],
});

async function open() {
  const instance = await testInstance();
  const { url } = await instance.rest({ config: CONFIG, env: ENV });
  await instance.executor({ config: CONFIG, env: ENV });
  const { value: key } = await instance.key({ scopes: ["read", "write", "run", "publish"] });
  return { url, call: apiClient(url, key) };
}

/** A published workflow whose trigger has this signature, and its sender. */
async function published(signature: object, fields: object = {}) {
  const { url, call } = await open();
  const created = await call("POST", "/workflows", {
    name: "Sent",
    definition: definition(signature, fields),
  });
  expect(created.body.issues ?? []).toEqual([]);
  expect(await call("POST", "/workflows/sent/publish", { version: 1 })).toMatchObject({ status: 200 });
  const { body: triggers } = await call("GET", "/workflows/sent/triggers");
  const hook = triggers.items[0].url as string;
  const send = async (body: string, headers: Record<string, string>, search = "") => {
    const to = `${url}${new URL(hook).pathname}${search}`;
    return toApiResponse(await fetch(to, { method: "POST", headers, body }));
  };
  const delivery = async (id: string) => (await call("GET", `/workflows/sent/deliveries/${id}`)).body;
  return { call, hook, send, delivery };
}

describe("a trigger with an HMAC in a header of the sender's own", () => {
  it("takes the id from the header that it names, and stores no signature", async () => {
    const { send, delivery } = await published({
      scheme: "hmac",
      header: "X-Shopify-Hmac-Sha256",
      encoding: "base64",
      id: "X-Shopify-Webhook-Id",
    });
    const body = '{"id":820982911946154508}';
    const headers = {
      "X-Shopify-Hmac-Sha256": hmac(body).digest("base64"),
      "X-Shopify-Webhook-Id": "b54557e4",
    };
    const first = await send(body, headers);
    expect(first.status).toBe(202);
    expect((await send(body, headers)).body).toEqual(first.body);
    const found = await delivery(first.body.delivery_id);
    expect(found).toMatchObject({ sender_id: "b54557e4", repeats: 1 });
    expect(found.headers).not.toHaveProperty("x-shopify-hmac-sha256");
    expectProblem(await send(`${body} `, headers), "signature_invalid");
  });

  it("refuses a signed body whose time is too old, as Linear's webhookTimestamp says", async () => {
    const { send } = await published({
      scheme: "hmac",
      header: "Linear-Signature",
      timestamp: "event.body.webhookTimestamp",
      id: "Linear-Delivery",
    });
    const sent = (body: string) =>
      send(body, { "Linear-Signature": hmac(body).digest("hex"), "Linear-Delivery": "1" });
    expect((await sent(`{"webhookTimestamp":${Date.now()}}`)).status).toBe(202);
    const old = expectProblem(
      await sent(`{"webhookTimestamp":${Date.now() - 600_000}}`),
      "signature_invalid",
    );
    expect(old.detail).toContain("The time in event.body.webhookTimestamp is 600 s ago");
    expectProblem(await sent("{}"), "signature_invalid");
  });

  it("answers with 200 where the trigger says so, for senders that repeat what gets 202", async () => {
    const signature = { scheme: "hmac", header: "Linear-Signature", id: "Linear-Delivery" };
    const { send } = await published(signature, { answer_status: 200 });
    const headers = { "Linear-Signature": hmac("{}").digest("hex"), "Linear-Delivery": "1" };
    const first = await send("{}", headers);
    expect(first).toMatchObject({ status: 200, body: { run_id: expect.stringMatching(/^run_/) as string } });
    expect(await send("{}", headers)).toMatchObject({ status: 200, body: first.body });
    expectProblem(await send("{} ", headers), "signature_invalid");
  });

  it("checks the URL with its query and the fields of a form, as Twilio signs them", async () => {
    const { send, hook } = await published({
      scheme: "hmac",
      header: "X-Twilio-Signature",
      algorithm: "sha1",
      encoding: "base64",
      signs: "{url}{form}",
    });
    const search = "?from=twilio%20&x=";
    const signature = hmac(`${hook}${search}Bodyä+ bFrom+14158675309`, "sha1").digest("base64");
    const headers = { "Content-Type": "application/x-www-form-urlencoded", "X-Twilio-Signature": signature };
    const body = "From=%2B14158675309&Body=%C3%A4%2B+b";
    expect((await send(body, headers, search)).status).toBe(202);
    expectProblem(await send(body, headers), "signature_invalid");
    expectProblem(
      await send('{"From":1}', { ...headers, "Content-Type": "text/plain" }),
      "signature_invalid",
    );
  });

  it("refuses the same signature over a text that is cut elsewhere: 10 for an amount of 100", async () => {
    const { send, delivery } = await published({
      scheme: "hmac",
      header: "X-Sig",
      signs: "{body}{timestamp}",
      timestamp: "X-Time",
    });
    const time = String(Math.floor(Date.now() / 1000));
    const signature = hmac(`amount=100${time}`).digest("hex");
    const sent = (body: string, at: string) =>
      send(body, {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Sig": signature,
        "X-Time": at,
      });
    const first = await sent("amount=100", time);
    expect(await delivery(first.body.delivery_id)).toMatchObject({ body: { amount: "100" } });
    for (const zeros of ["0", "00"]) {
      const { detail } = expectProblem(
        await sent("amount=100".slice(0, -zeros.length), `${zeros}${time}`),
        "signature_invalid",
      );
      expect(detail).toContain(`got "${zeros}${time}"`);
    }
  });

  it("is refused where it signs too little or names what is not there", async () => {
    const { call } = await open();
    const issuesOf = async (signature: object): Promise<string[]> => {
      const { body } = await call("POST", "/workflows/validate", { definition: definition(signature) });
      const issues = body.errors as { path: string; code: string }[];
      return issues.map(({ path, code }) => `${path.split(".").at(-1)} ${code}`).toSorted();
    };
    const scheme = { scheme: "hmac", header: "X-Sig" };
    expect(await issuesOf({ scheme: "hmac" })).toEqual(["header missing"]);
    expect(await issuesOf({ ...scheme, signs: "{timestamp}" })).toEqual([
      "signs invalid",
      "timestamp missing",
    ]);
    expect(await issuesOf({ ...scheme, signs: "{id}{Body}{body}" })).toEqual(["id missing", "signs invalid"]);
    expect(await issuesOf({ ...scheme, signs: "{id}{form}", id: "X-Id" })).toEqual(["signs invalid"]);
    expect(await issuesOf({ ...scheme, timestamp: "X-Time" })).toEqual(["timestamp not_allowed"]);
    for (const timestamp of ['event.headers["x-time"]', "event.headers.date", "event.query.t", "X Time"])
      expect(await issuesOf({ ...scheme, signs: "{timestamp}{body}", timestamp })).toEqual([
        "timestamp invalid",
      ]);
    expect(await issuesOf({ ...scheme, prefix: "a, b" })).toEqual([expect.stringMatching(/^prefix/)]);
    expect(await issuesOf({ ...scheme, prefix: "HMAC ", secret_encoding: "hex" })).toEqual([
      "secret signature_secret_malformed",
    ]);
    expect(await issuesOf({ scheme: "github", encoding: "hex", signs: "{body}" })).toEqual([
      "encoding not_allowed",
      "signs not_allowed",
    ]);
  });
});

describe("the secret of a signature", () => {
  it("is checked for the form of its scheme before it is needed, and never shown", async () => {
    const { call } = await open();
    const issues = async (signature: object) => {
      const { body } = await call("POST", "/workflows/validate", { definition: definition(signature) });
      expect(JSON.stringify(body)).not.toContain("quiet secret");
      return { errors: body.errors, warnings: body.warnings ?? [] };
    };
    const malformed = { path: "triggers[0].signature.secret", code: "signature_secret_malformed" };
    expect((await issues({ scheme: "standard_webhooks" })).errors).toMatchObject([
      { ...malformed, message: expect.stringContaining("must be base64") },
    ]);
    expect(await issues({ scheme: "standard_webhooks", secret: "unpadded" })).toMatchObject({
      errors: [],
      warnings: [],
    });
    expect((await issues({ scheme: "slack" })).warnings).toMatchObject([malformed]);
    expect((await issues({ scheme: "stripe" })).warnings).toMatchObject([malformed]);
    expect((await issues({ scheme: "shared_secret", secret: "words" })).warnings).toContainEqual(
      expect.objectContaining({
        ...malformed,
        fix: "Ask the operator to set a secret of ASCII characters here and at the sender.",
      }),
    );
    expect((await issues({ scheme: "github", secret: "blank" })).errors).toMatchObject([malformed]);
  });

  it("is accepted as a vendor writes it, without padding", async () => {
    const { send } = await published({ scheme: "standard_webhooks", secret: "unpadded" });
    const time = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", "abcde").update(`msg_1.${time}.{}`).digest("base64");
    const headers = { "svix-id": "msg_1", "svix-timestamp": time, "svix-signature": `v1,${signature}` };
    expect((await send("{}", headers)).status).toBe(202);
  });
});

describe("an event with an HMAC", () => {
  it("is refused while the signed time in its body is too old", async () => {
    const { url, call } = await open();
    const signature = { scheme: "hmac", secret: "hook", header: "X-Sig", timestamp: "event.body.at" };
    await call("POST", "/workflows", {
      name: "Callback",
      definition: { steps: [{ id: "paid", type: "wait", event: { signature }, timeout: "1h" }] },
    });
    const { body: run } = await call("POST", "/workflows/callback/runs", {});
    const path = await untilPassing(async () => {
      const { body } = await call("GET", `/runs/${run.id}?step_id=paid`);
      expect(body.status).toBe("waiting");
      return new URL(body.steps[0].event_url as string).pathname;
    });
    const send = (body: string) => apiClient(url)("POST", path, body, { "X-Sig": hmac(body).digest("hex") });
    expectProblem(await send(`{"at":${Date.now() - 600_000}}`), "signature_invalid");
    expect((await send(`{"at":${Date.now()}}`)).status).toBe(202);
  });
});
