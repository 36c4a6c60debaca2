import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Signature } from "../../../schemas/signature.ts";
import { checkSignature } from "../../../src/core/webhook-signatures/index.ts";
import { parseForm } from "../../../src/surfaces/rest/form-fields.ts";

type Settings = Omit<Signature, "secret" | "scheme">;

interface Sent {
  headers: Record<string, string>;
  body?: string;
  secret: string;
  url?: string;
  now?: number;
}

const FORM = "application/x-www-form-urlencoded";

const check = (settings: Settings, { headers, body = "", secret, url, now = 0 }: Sent) =>
  checkSignature(
    { scheme: "hmac", ...settings },
    {
      headers,
      body: Buffer.from(body),
      form: () => (headers["content-type"] === FORM ? parseForm(Buffer.from(body), FORM) : undefined),
      secrets: [secret],
      now,
      ...(url !== undefined && { url }),
    },
  );

const VALID = { valid: true };

const TWILIO = {
  header: "X-Twilio-Signature",
  algorithm: "sha1",
  encoding: "base64",
  signs: "{url}{form}",
} as const;

describe("signatures in other people's documents and tests", () => {
  it("accepts Twilio's: HMAC-SHA1 over the URL and the sorted fields of the form", () => {
    const body =
      "Digits=1234&To=%2B18005551212&From=%2B14158675309&Caller=%2B14158675309&CallSid=CA1234567890ABCDE";
    const sent = {
      headers: { "x-twilio-signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=", "content-type": FORM },
      body,
      secret: "12345",
      url: "https://mycompany.com/myapp.php?foo=1&bar=2",
    };
    expect(check(TWILIO, sent)).toMatchObject(VALID);
    expect(check(TWILIO, { ...sent, body: `${body}&x=` })).toMatchObject({ reason: "mismatch" });
    expect(check(TWILIO, { ...sent, url: "https://mycompany.com/myapp.php?foo=1" })).toMatchObject({
      reason: "mismatch",
    });
  });

  it("refuses a body that is no form where the signature is over the fields of one", () => {
    const url = "https://mycompany.com/myapp.php";
    const signature = createHmac("sha1", "12345").update(url).digest("base64");
    const sent = { headers: { "x-twilio-signature": signature }, secret: "12345", url };
    expect(check(TWILIO, sent)).toMatchObject(VALID);
    expect(check(TWILIO, { ...sent, body: '{"a":1}' })).toMatchObject({ reason: "malformed" });
  });

  it("accepts that of SQLPage's test for Shopify: base64 over the body", () => {
    const settings = {
      header: "X-Shopify-Hmac-Sha256",
      encoding: "base64",
      id: "X-Shopify-Webhook-Id",
    } as const;
    const sent = {
      headers: {
        "x-shopify-hmac-sha256": "QNyObTlKbMx2qDlPF/ZOZcBqg5OgPg+2oky3zldc0Gw=",
        "x-shopify-webhook-id": "b54557e4",
      },
      body: '{"id":1234567890,"email":"customer@example.com","total_price":"123.45"}',
      secret: "test-webhook-secret",
    };
    expect(check(settings, sent)).toEqual({ valid: true, deliveryId: "b54557e4" });
    expect(check(settings, { ...sent, secret: "another" })).toMatchObject({ reason: "mismatch" });
  });

  it("accepts that of hapi-dropbox-webhooks: hexadecimal over the body", () => {
    const sent = {
      headers: { "x-dropbox-signature": "0a8c16b085420b960dc78664279fe09e936a2a01b1f91064869d9e77dfd64529" },
      body: '{"delta": {"users": [12345]}}',
      secret: "the_secret",
    };
    expect(check({ header: "X-Dropbox-Signature" }, sent)).toEqual({ valid: true, deliveryId: null });
  });

  it("accepts that of Zendesk's event connectors, with a time as RFC 3339 after the body", () => {
    const settings = {
      header: "X-Zendesk-Webhook-Signature",
      encoding: "base64",
      signs: "{body}{timestamp}",
      timestamp: "X-Zendesk-Webhook-Signature-Timestamp",
    } as const;
    const sent = {
      headers: {
        "x-zendesk-webhook-signature": "tRDSF7URY8BLCDlaBcQ7FHu051Zk+aAB0NKMP53teMw=",
        "x-zendesk-webhook-signature-timestamp": "2021-07-25T10:00:00Z",
      },
      body: '{"say": "hello"}',
      secret: "HRkRd4BeOAoUkfZr-mhauJT64rvBASlJRoIyPsd3zeA=",
      now: Date.parse("2021-07-25T10:04:00Z"),
    };
    expect(check(settings, sent)).toMatchObject(VALID);
    expect(check(settings, { ...sent, now: Date.parse("2021-07-25T10:05:01Z") })).toMatchObject({
      reason: "expired",
    });
  });

  it("accepts Slack's, written as an HMAC with a prefix and a time in seconds", () => {
    const settings = {
      header: "X-Slack-Signature",
      prefix: "v0=",
      signs: "v0:{timestamp}:{body}",
      timestamp: "X-Slack-Request-Timestamp",
    };
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&" +
      "channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&" +
      "response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&" +
      "trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const sent = {
      headers: {
        "x-slack-request-timestamp": "1531420618",
        "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
      },
      body,
      secret: "8f742231b10e8888abcd99yyyzzz85a5",
      now: 1_531_420_700_000,
    };
    expect(check(settings, sent)).toMatchObject(VALID);
    const upper = { ...sent.headers, "x-slack-signature": sent.headers["x-slack-signature"].toUpperCase() };
    expect(check({ ...settings, prefix: "V0=" }, { ...sent, headers: upper })).toMatchObject(VALID);
    expect(check(settings, { ...sent, headers: upper })).toMatchObject({ reason: "malformed" });
  });
});

describe("a key in an encoding, and the scheme of Authorization as a prefix", () => {
  // https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-outgoing-webhook
  const teams = {
    header: "Authorization",
    prefix: "HMAC ",
    encoding: "base64",
    secret_encoding: "base64",
  } as const;
  const body = '{"type":"message","text":"ä"}';
  const key = Buffer.from("00ff10ef20df", "hex");
  const value = createHmac("sha256", key).update(body).digest("base64");

  it("are those of outgoing webhooks of Microsoft Teams", () => {
    const sent = { headers: { authorization: `HMAC ${value}` }, body, secret: key.toString("base64") };
    expect(check(teams, sent)).toMatchObject(VALID);
    expect(check(teams, { ...sent, headers: { authorization: `hmac  ${value}` } })).toMatchObject(VALID);
    expect(check(teams, { ...sent, body: `${body} ` })).toMatchObject({ reason: "mismatch" });
    for (const authorization of [value, `HMAC${value}`, `Bearer ${value}`, `HMAC ${value} ${value}`])
      expect(check(teams, { ...sent, headers: { authorization } })).toMatchObject({ reason: "malformed" });
    expect(check(teams, { ...sent, secret: "no base64!" })).toMatchObject({
      reason: "unusable_secret",
      message: expect.stringContaining("must be base64") as string,
    });
  });

  it("are hexadecimal too, as at Adyen", () => {
    const settings = { header: "HmacSignature", encoding: "base64", secret_encoding: "hex" } as const;
    const sent = { headers: { hmacsignature: value }, body, secret: key.toString("hex").toUpperCase() };
    expect(check(settings, sent)).toMatchObject(VALID);
    expect(check(settings, { ...sent, secret: `${sent.secret}0` })).toMatchObject({
      reason: "unusable_secret",
    });
  });
});

const sign = (content: string, secret = "key"): string =>
  createHmac("sha256", secret).update(content).digest("hex");
const stripeLike = (header: string, prefix: string, time: string, signs: string): Settings => ({
  header,
  prefix,
  signs,
  timestamp: header,
  timestamp_prefix: time,
});

describe("a header with several parts", () => {
  const now = 1_700_000_000_000;
  const body = '{"event":"invitee.created"}';
  const calendly = stripeLike("Calendly-Webhook-Signature", "v1=", "t=", "{timestamp}.{body}");
  const paddle = stripeLike("Paddle-Signature", "h1=", "ts=", "{timestamp}:{body}");

  it("has the time and each signature after its prefix, as Calendly and Paddle send them", () => {
    const one = { "calendly-webhook-signature": `t=1700000000,v1=${sign(`1700000000.${body}`)}` };
    expect(check(calendly, { headers: one, body, secret: "key", now })).toMatchObject(VALID);
    const old = sign(`1700000000:${body}`, "old");
    const two = { "paddle-signature": `ts=1700000000;h1=${old};h1=${sign(`1700000000:${body}`)}` };
    for (const secret of ["old", "key"])
      expect(check(paddle, { headers: two, body, secret, now })).toMatchObject(VALID);
    expect(check(paddle, { headers: two, body, secret: "key", now: now + 301_000 })).toMatchObject({
      reason: "expired",
    });
  });

  it("is refused with two times, without one, and with one that can't be read", () => {
    const valueOf = (times: string): Record<string, string> => ({
      "calendly-webhook-signature": `${times}v1=${sign(`1700000000.${body}`)}`,
    });
    for (const times of ["t=1700000000,t=1600000000,", ""])
      expect(check(calendly, { headers: valueOf(times), body, secret: "key", now })).toMatchObject({
        reason: "malformed",
        message: expect.stringContaining("t=") as string,
      });
    const odd = { "calendly-webhook-signature": `t=soon,v1=${sign(`soon.${body}`)}` };
    expect(check(calendly, { headers: odd, body, secret: "key", now })).toMatchObject({
      reason: "malformed",
      message: expect.stringContaining('"soon"') as string,
    });
  });

  it.each([
    ["1700000000", VALID],
    ["1700000000123", VALID],
    ["2023-11-14T22:13:20Z", VALID],
    ["2023-11-14T23:13:20.500+01:00", VALID],
    ["1600000000", { reason: "expired" }],
    ["2023-11-14", { reason: "malformed" }],
    ["-1", { reason: "malformed" }],
    ["1e9", { reason: "malformed" }],
  ])("reads the time %s", (time, result) => {
    const settings = { header: "X-Sig", signs: "{timestamp}{body}", timestamp: "X-Time" };
    const headers = { "x-sig": sign(`${time}${body}`), "x-time": time };
    expect(check(settings, { headers, body, secret: "key", now })).toMatchObject(result);
  });

  it("is one value without a prefix, so that a header which was sent twice is refused", () => {
    const value = sign(body);
    expect(check({ header: "X-Sig" }, { headers: { "x-sig": value }, body, secret: "key" })).toMatchObject(
      VALID,
    );
    const twice = { headers: { "x-sig": `${value}, ${value}` }, body, secret: "key" };
    expect(check({ header: "X-Sig" }, twice)).toMatchObject({
      reason: "malformed",
      message: "X-Sig must be 64 hexadecimal digits.",
    });
  });

  it("may have its digits in upper case, as SavvyCal writes them, and base64 in either alphabet without padding", () => {
    const hex = { header: "X-SavvyCal-Signature", prefix: "sha256=" };
    const sent = (value: string, header = "x-savvycal-signature"): Sent => ({
      headers: { [header]: value },
      body,
      secret: "key",
    });
    expect(check(hex, sent(`sha256=${sign(body).toUpperCase()}`))).toMatchObject(VALID);
    const value = createHmac("sha256", "key").update(body).digest("base64");
    const base64 = { header: "X-Sig", encoding: "base64" } as const;
    expect(check(base64, sent(value, "x-sig"))).toMatchObject(VALID);
    expect(check(base64, sent(value.toUpperCase(), "x-sig"))).toMatchObject({ reason: "mismatch" });
    // A digest that has both characters in which the alphabets differ.
    const signed = Array.from({ length: 1_000 }, (_, n) => String(n)).find((text) =>
      /\+.*\/|\/.*\+/.test(createHmac("sha256", "key").update(text).digest("base64")),
    )!;
    const spelled = createHmac("sha256", "key").update(signed).digest("base64");
    const forUrls = createHmac("sha256", "key").update(signed).digest("base64url");
    for (const one of [spelled, spelled.replace("=", ""), forUrls, `${forUrls}=`])
      expect(check(base64, { ...sent(one, "x-sig"), body: signed })).toMatchObject(VALID);
    for (const one of [`${forUrls}==`, spelled.slice(1), `=${forUrls}`])
      expect(check(base64, { ...sent(one, "x-sig"), body: signed })).toMatchObject({ reason: "malformed" });
  });

  it("needs the id that is signed, as Twitch signs it", () => {
    const settings = {
      header: "Twitch-Eventsub-Message-Signature",
      prefix: "sha256=",
      signs: "{id}{timestamp}{body}",
      id: "Twitch-Eventsub-Message-Id",
      timestamp: "Twitch-Eventsub-Message-Timestamp",
    };
    const headers = {
      "twitch-eventsub-message-id": "e76c6bd4",
      "twitch-eventsub-message-timestamp": "2023-11-14T22:13:20.634234626Z",
      "twitch-eventsub-message-signature": `sha256=${sign(`e76c6bd42023-11-14T22:13:20.634234626Z${body}`)}`,
    };
    const sent = { headers, body, secret: "key", now };
    expect(check(settings, sent)).toEqual({ valid: true, deliveryId: "e76c6bd4" });
    const { "twitch-eventsub-message-id": _id, ...without } = headers;
    expect(check(settings, { ...sent, headers: without })).toMatchObject({ reason: "missing" });
  });

  it("does not prove an id that is not signed", () => {
    const settings = { header: "X-Sig", id: "X-Id" };
    const headers = { "x-sig": sign(body), "x-id": "another" };
    expect(check(settings, { headers, body, secret: "key" })).toEqual({ valid: true, deliveryId: "another" });
  });

  it("compares SHA-512 too, and no digest of another length", () => {
    const value = createHmac("sha512", "key").update(body).digest("hex");
    const settings = { header: "X-Sig", algorithm: "sha512" } as const;
    expect(check(settings, { headers: { "x-sig": value }, body, secret: "key" })).toMatchObject(VALID);
    expect(check(settings, { headers: { "x-sig": sign(body) }, body, secret: "key" })).toMatchObject({
      reason: "malformed",
    });
  });
});
