import { createHmac } from "node:crypto";
import { sign } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { describe, expect, it } from "vitest";
import { checkSignature, type SignatureScheme } from "../../../src/core/webhook-signatures/index.ts";

const check = (
  scheme: SignatureScheme,
  headers: Record<string, string>,
  body: string,
  secret: string | readonly string[],
  now = Date.now(),
) => checkSignature({ scheme }, { headers, body: Buffer.from(body), secrets: [secret].flat(), now });

const BODY = '{"id":"evt_1","grüße":"ä"}';

describe("signatures made by the vendors' own libraries", () => {
  it("accepts what standardwebhooks signs", () => {
    const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
    const at = new Date();
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": new Webhook(secret).sign("msg_1", at, BODY),
    };
    expect(check("standard_webhooks", headers, BODY, secret)).toEqual({ valid: true, deliveryId: "msg_1" });
    expect(check("standard_webhooks", headers, `${BODY} `, secret)).toMatchObject({ reason: "mismatch" });
  });

  it("accepts what @octokit/webhooks-methods signs", async () => {
    const headers = { "x-hub-signature-256": await sign("a secret", BODY), "x-github-delivery": "72d3162e" };
    expect(check("github", headers, BODY, "a secret")).toEqual({ valid: true, deliveryId: "72d3162e" });
    expect(check("github", headers, BODY, "another")).toMatchObject({ reason: "mismatch" });
  });

  it("accepts what stripe signs", () => {
    const header = new Stripe("sk_test_x").webhooks.generateTestHeaderString({
      payload: BODY,
      secret: "whsec_x",
    });
    expect(check("stripe", { "stripe-signature": header }, BODY, "whsec_x")).toMatchObject({ valid: true });
    expect(check("stripe", { "stripe-signature": header }, BODY, "whsec_y")).toMatchObject({
      reason: "mismatch",
    });
  });
});

describe("the examples in the vendors' documentation", () => {
  it("accepts GitHub's", () => {
    const headers = {
      "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    };
    expect(check("github", headers, "Hello, World!", "It's a Secret to Everybody")).toEqual({
      valid: true,
      deliveryId: null,
    });
  });

  it("accepts Slack's", () => {
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&" +
      "channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&" +
      "response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&" +
      "trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const headers = {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    };
    const secret = "8f742231b10e8888abcd99yyyzzz85a5";
    expect(check("slack", headers, body, secret, 1_531_420_700_000)).toMatchObject({ valid: true });
    expect(check("slack", headers, body, secret, 1_531_420_919_000)).toMatchObject({ reason: "expired" });
  });

  it.each(["webhook", "svix"])(
    "accepts that of Standard Webhooks in headers that begin with %s",
    (prefix) => {
      const headers = {
        [`${prefix}-id`]: "msg_p5jXN8AQM9LWM0D4loKWxJek",
        [`${prefix}-timestamp`]: "1614265330",
        [`${prefix}-signature`]: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      };
      const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
      const body = '{"test": 2432232314}';
      expect(check("standard_webhooks", headers, body, secret, 1_614_265_330_000)).toEqual({
        valid: true,
        deliveryId: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      });
    },
  );
});

const shared = (headers: Record<string, string>, header?: string) =>
  checkSignature(
    { scheme: "shared_secret", header },
    { headers, body: Buffer.of(), secrets: ["s3cret"], now: 0 },
  );

/** The headers of the example of Standard Webhooks, under these names. */
const exampleUnder = (names: readonly string[]): Record<string, string> => ({
  [names[0]!]: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  [names[1]!]: "1614265330",
  [names[2]!]: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
});

const checkExample = (names: readonly string[]) =>
  check(
    "standard_webhooks",
    exampleUnder(names),
    '{"test": 2432232314}',
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    1_614_265_330_000,
  );

describe("the rules of a scheme", () => {
  const now = 1_700_000_000_000;
  const stripe = (secret: string, body = BODY, seconds = now / 1000): string =>
    `v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`;

  it("accepts each of several secrets, and each of several signatures", () => {
    const header = `t=${now / 1000},${stripe("old")},${stripe("new")}`;
    for (const secrets of [["new"], ["old"], ["other", "new"]])
      expect(check("stripe", { "stripe-signature": header }, BODY, secrets, now)).toMatchObject({
        valid: true,
      });
    expect(check("stripe", { "stripe-signature": header }, BODY, ["other"], now)).toMatchObject({
      valid: false,
    });
    expect(check("stripe", { "stripe-signature": header }, BODY, [], now)).toMatchObject({
      reason: "unusable_secret",
    });
  });

  it.each([
    [300, true],
    [301, false],
    [-300, true],
    [-301, false],
  ])("with a time %d s ago: accepted is %s", (age, valid) => {
    const seconds = now / 1000 - age;
    const header = `t=${seconds},${stripe("s", BODY, seconds)}`;
    expect(check("stripe", { "stripe-signature": header }, BODY, "s", now).valid).toBe(valid);
  });

  it("compares a shared secret in the header of the trigger", () => {
    expect(shared({ "x-webhook-secret": "s3cret" })).toEqual({ valid: true, deliveryId: null });
    expect(shared({ "x-gitlab-token": "s3cret" }, "X-Gitlab-Token")).toMatchObject({ valid: true });
    expect(shared({ authorization: "Bearer s3cret" }, "Authorization")).toMatchObject({ valid: true });
    expect(shared({ "x-webhook-secret": "s3cre" })).toMatchObject({ reason: "mismatch" });
    expect(shared({ "x-webhook-secret": "s3cret" }, "X-Gitlab-Token")).toMatchObject({ reason: "missing" });
  });

  it("says which header is missing or can't be read, and repeats no signature", () => {
    expect(check("github", {}, BODY, "s")).toMatchObject({
      reason: "missing",
      message: expect.stringContaining("X-Hub-Signature-256") as string,
    });
    const malformed = [
      check("github", { "x-hub-signature-256": "sha1=abc" }, BODY, "s"),
      check("stripe", { "stripe-signature": "v1=abc" }, BODY, "s"),
      check("stripe", { "stripe-signature": "t=1,t=2,v1=abc" }, BODY, "s"),
      check("slack", { "x-slack-signature": "v0=ABC", "x-slack-request-timestamp": "1" }, BODY, "s"),
      check(
        "standard_webhooks",
        { "webhook-id": "a", "webhook-timestamp": "1", "webhook-signature": "v1a,abc" },
        BODY,
        Buffer.alloc(9).toString("base64"),
      ),
    ];
    expect(malformed.map((result) => !result.valid && result.reason)).toEqual(
      malformed.map(() => "malformed"),
    );
    expect(JSON.stringify(malformed)).not.toContain("abc");
  });

  it("never combines headers of the two sets of Standard Webhooks", () => {
    for (const names of [
      ["webhook-id", "webhook-timestamp", "svix-signature"],
      ["svix-id", "svix-timestamp", "webhook-signature"],
      ["svix-id", "webhook-timestamp", "svix-signature"],
    ])
      expect(checkExample(names)).toMatchObject({ reason: "missing" });
  });

  // 22 and 23 bytes have padding, 24 have none; the bytes have both letters that differ in the alphabet of URLs.
  it.each([22, 23, 24])(
    "accepts a secret of Standard Webhooks with %d bytes as senders write it",
    (length) => {
      const key = Buffer.alloc(length, Buffer.from("fbefbeff", "hex"));
      const padded = key.toString("base64");
      expect(padded).toMatch(/[+]/);
      const headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": String(now / 1000),
        "webhook-signature": `v1,${createHmac("sha256", key)
          .update(`msg_1.${now / 1000}.${BODY}`)
          .digest("base64")}`,
      };
      const written = [
        `whsec_${padded}`,
        padded,
        `whsec_${padded.replaceAll("=", "")}`,
        padded.replaceAll("=", ""),
        `whsec_${key.toString("base64url")}`,
        `whsec_${padded}\n`,
        `v1,whsec_${padded}`,
      ];
      for (const secret of written)
        expect(check("standard_webhooks", headers, BODY, secret, now)).toMatchObject({ valid: true });
      for (const secret of ["whsec_", "whsec_abcde", "whsec_a+b-", "polar_whs_abcdefg", "whsec_xyz!"])
        expect(check("standard_webhooks", headers, BODY, secret, now)).toMatchObject({
          reason: "unusable_secret",
        });
    },
  );

  it("checks with the secret that can be read while another one is malformed", () => {
    const secret = Buffer.alloc(24, 9).toString("base64");
    const headers = (key: Buffer) => ({
      "webhook-id": "msg_1",
      "webhook-timestamp": String(now / 1000),
      "webhook-signature": `v1,${createHmac("sha256", key)
        .update(`msg_1.${now / 1000}.${BODY}`)
        .digest("base64")}`,
    });
    const both = ["not base64!", secret];
    expect(check("standard_webhooks", headers(Buffer.alloc(24, 9)), BODY, both, now)).toMatchObject({
      valid: true,
    });
    expect(check("standard_webhooks", headers(Buffer.alloc(24, 1)), BODY, both, now)).toMatchObject({
      reason: "unusable_secret",
    });
  });

  it("refuses a secret that is only white space, and compares a shared one without white space around it", () => {
    const header = {
      "x-hub-signature-256": `sha256=${createHmac("sha256", " ").update(BODY).digest("hex")}`,
    };
    expect(check("github", header, BODY, " ")).toMatchObject({ reason: "unusable_secret" });
    expect(check("shared_secret", { "x-webhook-secret": "s3cret" }, BODY, "s3cret\n")).toMatchObject({
      valid: true,
    });
  });

  it("refuses a secret of Standard Webhooks that is not base64", () => {
    const headers = { "webhook-id": "a", "webhook-timestamp": "1", "webhook-signature": "v1,abc" };
    expect(check("standard_webhooks", headers, BODY, "not base64!")).toMatchObject({
      reason: "unusable_secret",
    });
  });
});
