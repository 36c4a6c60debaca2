import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { rawRequest } from "../support/raw-http.ts";

const ENV = { TEST_HOOK: "quiet secret", TEST_WORDS: "wörter", TEST_STANDARD: "whsec_YWJjZGU" };
const CONFIG = {
  secrets: [
    { name: "hook", key_var: "TEST_HOOK", hosts: [] },
    { name: "standard", key_var: "TEST_STANDARD", hosts: [] },
    { name: "words", key_var: "TEST_WORDS", hosts: [] },
  ],
};

/** A text as clients of Node send its bytes in a header. */
const bytesOf = (text: string, encoding: "utf8" | "latin1" = "utf8"): string =>
  Buffer.from(text, encoding).toString("latin1");

/** A published workflow whose trigger has this signature; sends deliveries to it. */
async function published(signature?: object) {
  const instance = await testInstance();
  const { url } = await instance.rest({ config: CONFIG, env: ENV });
  const { value: key } = await instance.key({ scopes: ["read", "write", "run", "publish"] });
  const call = apiClient(url, key);
  const definition = {
    triggers: [{ id: "sent", type: "webhook", ...(signature !== undefined && { signature }) }],
    steps: [{ id: "kept", type: "set", values: { done: true } }],
  };
  await call("POST", "/workflows", { name: "Sent", definition });
  expect(await call("POST", "/workflows/sent/publish", { version: 1 })).toMatchObject({ status: 200 });
  const { body: triggers } = await call("GET", "/workflows/sent/triggers");
  const { pathname } = new URL(triggers.items[0].url as string);
  // Node sends headers in the encoding of a body that is a text.
  const body = Buffer.from("{}");
  const send = (headers: Record<string, string | string[]>, search = "") =>
    rawRequest("POST", `${url}${pathname}${search}`, { headers, body });
  /** Sends a delivery, and returns it as it is stored. */
  const received = async (...sent: Parameters<typeof send>) => {
    const answer = await send(...sent);
    expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
    return (await call("GET", `/workflows/sent/deliveries/${answer.json().delivery_id}`)).body;
  };
  return { send, received };
}

const signatureOf = (content: string | Buffer): string =>
  createHmac("sha256", "quiet secret").update(content).digest("hex");

describe("receivedEvent", () => {
  it("reads headers as UTF-8, or else as Latin-1", async () => {
    const { received } = await published();
    const headers = { "X-Utf": bytesOf("é → 日本"), "X-Latin": bytesOf("é", "latin1"), "X-Ascii": "e" };
    const { headers: kept } = await received(headers);
    expect(kept).toMatchObject({ "x-utf": "é → 日本", "x-latin": "é", "x-ascii": "e" });
  });

  it("joins the values of each repeated header, also of those of which Node keeps the first only", async () => {
    const { received } = await published();
    const both = [bytesOf("a@example.com é"), bytesOf("ü", "latin1")];
    const { headers: kept } = await received({ From: both, "User-Agent": both, "X-Own": both });
    const joined = "a@example.com é, ü";
    expect(kept).toMatchObject({ from: joined, "user-agent": joined, "x-own": joined });
  });

  it.each(["application/json;charset=UTF8", 'application/json; charset="utf8"'])(
    "takes JSON as %s",
    async (type) => {
      const { received } = await published();
      expect((await received({ "Content-Type": type })).body).toEqual({});
    },
  );

  it("refuses two types of one body", async () => {
    const { send, received } = await published();
    expect((await send({ "Content-Type": ["application/json", "text/plain"] })).json()).toMatchObject({
      code: "unsupported_media_type",
      detail: expect.stringContaining("Send it once"),
    });
    await received({ "Content-Type": ["application/json", "application/json"] });
  });

  it("reads parameters of the query as UTF-8, refuses others by name, and leaves % that begins no code", async () => {
    const { send, received } = await published();
    expect((await received({}, "?a=%C3%A9&b=100%&c=%zz")).query).toEqual({ a: "é", b: "100%", c: "%zz" });
    expect((await send({}, "?a=%E9")).json()).toMatchObject({
      code: "invalid_input",
      errors: [{ path: "a" }],
    });
  });
});

describe("checkSignature", () => {
  const BY_ID = { scheme: "hmac", secret: "hook", header: "X-Sig", signs: "{id}.{body}", id: "X-Id" };

  it.each(["utf8", "latin1"] as const)(
    "is over the bytes of a header in %s, and the id is its text",
    async (encoding) => {
      const { send, received } = await published(BY_ID);
      const id = bytesOf("é-1", encoding);
      const signature = signatureOf(Buffer.from(`${id}.{}`, "latin1"));
      expect(await received({ "X-Id": id, "X-Sig": signature })).toMatchObject({ sender_id: "é-1" });
      const other = bytesOf("é-1", encoding === "utf8" ? "latin1" : "utf8");
      expect((await send({ "X-Id": other, "X-Sig": signature })).json().code).toBe("signature_invalid");
    },
  );

  it.each(["utf8", "latin1"] as const)(
    "is over the bytes of the id of Standard Webhooks in %s",
    async (encoding) => {
      const { received } = await published({ scheme: "standard_webhooks", secret: "standard" });
      const time = String(Math.floor(Date.now() / 1000));
      const id = bytesOf("é-1", encoding);
      const hmac = createHmac("sha256", "abcde").update(Buffer.from(`${id}.${time}.{}`, "latin1"));
      const headers = {
        "Webhook-Id": id,
        "Webhook-Timestamp": time,
        "Webhook-Signature": `v1,${hmac.digest("base64")}`,
      };
      expect(await received(headers)).toMatchObject({ sender_id: "é-1" });
    },
  );

  it("compares a secret in a header as text", async () => {
    const { send, received } = await published({ scheme: "shared_secret", secret: "words", header: "X-Key" });
    await received({ "X-Key": bytesOf("wörter") });
    expect((await send({ "X-Key": "worter" })).json().code).toBe("signature_invalid");
  });

  it("takes no first value of a header that is sent twice", async () => {
    const { send } = await published({ scheme: "shared_secret", secret: "hook", header: "Authorization" });
    const answer = await send({ Authorization: ["Bearer quiet secret", "Bearer other"] });
    expect(answer.json().code).toBe("signature_invalid");
  });
});
