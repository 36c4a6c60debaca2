import { createHmac } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkSignature, type SignatureScheme } from "../../../src/core/webhook-signatures/index.ts";
import { testSeed } from "../../support/random.ts";

const NOW = 1_700_000_000_000;
const TIME = String(NOW / 1000);
const SECRET = Buffer.alloc(24, 5).toString("base64");
const SEED = testSeed("changed bytes");

const hmac = (key: string | Buffer, encoding: "hex" | "base64", ...content: (string | Buffer)[]): string =>
  createHmac("sha256", key)
    .update(Buffer.concat(content.map((part) => Buffer.from(part as string))))
    .digest(encoding);

/** The headers that each scheme signs or compares, made without the code under test. */
const SENDERS: Readonly<
  Record<Exclude<SignatureScheme, "shared_secret">, (body: Buffer) => Record<string, string>>
> = {
  standard_webhooks: (body) => ({
    "webhook-id": "msg_2Lml",
    "webhook-timestamp": TIME,
    "webhook-signature": `v1,${hmac(Buffer.from(SECRET, "base64"), "base64", `msg_2Lml.${TIME}.`, body)}`,
  }),
  github: (body) => ({ "x-hub-signature-256": `sha256=${hmac(SECRET, "hex", body)}` }),
  stripe: (body) => ({ "stripe-signature": `t=${TIME},v1=${hmac(SECRET, "hex", `${TIME}.`, body)}` }),
  hmac: (body) => ({
    "x-time": TIME,
    "x-id": "one",
    "x-signature": hmac(SECRET, "base64", `one ${TIME}.`, body),
  }),
  slack: (body) => ({
    "x-slack-request-timestamp": TIME,
    "x-slack-signature": `v0=${hmac(SECRET, "hex", `v0:${TIME}:`, body)}`,
  }),
};

const settingsOf = (scheme: SignatureScheme): Parameters<typeof checkSignature>[0] =>
  scheme === "hmac"
    ? {
        scheme,
        header: "X-Signature",
        encoding: "base64",
        signs: "{id} {timestamp}.{body}",
        timestamp: "X-Time",
        id: "X-Id",
      }
    : { scheme };

const isValid = (scheme: SignatureScheme, headers: Record<string, string>, body: Buffer): boolean =>
  checkSignature(settingsOf(scheme), { headers, body, secrets: [SECRET], now: NOW }).valid;

const bodies = fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes));

describe.each(Object.entries(SENDERS))("%s", (name, headersFor) => {
  const scheme = name as SignatureScheme;

  it(`accepts what is signed and refuses any changed byte (seed ${SEED})`, () => {
    fc.assert(
      fc.property(bodies, fc.nat(), fc.integer({ min: 1, max: 255 }), (body, at, flip) => {
        const headers = headersFor(body);
        expect(isValid(scheme, headers, body)).toBe(true);
        const changed = Buffer.from(body);
        changed[at % body.length]! ^= flip;
        expect(isValid(scheme, headers, changed)).toBe(false);
        expect(isValid(scheme, headers, Buffer.concat([body, Buffer.of(flip)]))).toBe(false);
        expect(isValid(scheme, headers, body.subarray(1))).toBe(false);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it(`refuses any changed character of a header (seed ${SEED})`, () => {
    const body = Buffer.from('{"a":1}');
    const headers = headersFor(body);
    const change = fc.tuple(
      fc.constantFrom(...Object.keys(headers)),
      fc.nat(),
      fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCodePoint(code)),
    );
    fc.assert(
      fc.property(change, ([header, position, letter]) => {
        const value = headers[header]!;
        const at = position % value.length;
        fc.pre(value[at] !== letter);
        const changed = value.slice(0, at) + letter + value.slice(at + 1);
        expect(isValid(scheme, { ...headers, [header]: changed }, body)).toBe(false);
      }),
      { seed: SEED, numRuns: 1_000 },
    );
  });
});
