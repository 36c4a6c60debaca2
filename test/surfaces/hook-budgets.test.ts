import { EventEmitter } from "node:events";
import type { Request, Response } from "express";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/core/clock.ts";
import { AppError, toAppError } from "../../src/core/errors.ts";
import { noMeter } from "../../src/core/meter.ts";
import type { TriggersApi, TriggerTarget } from "../../src/core/trigger-ports.ts";
import { bodyMemory } from "../../src/surfaces/body-memory.ts";
import type { Services } from "../../src/surfaces/invoke.ts";
import { receiveDelivery } from "../../src/surfaces/rest/hooks.ts";

/** The triggers by their tokens, each with its owner. */
const OWNERS: Readonly<Record<string, string>> = {
  a: "ann@example.com",
  b: "ann@example.com",
  c: "ann@example.com",
  other: "bob@example.com",
};
const ATTACKER = "192.0.2.1";
const SENDER = "198.51.100.7";

const targetOf = (token: string): TriggerTarget =>
  ({
    record: {
      id: token,
      workflowId: "on-push",
      name: "pushed",
      actor: { kind: "key", keyId: "key_1", owner: OWNERS[token] },
    },
    trigger: { id: "pushed", type: "webhook" },
  }) as unknown as TriggerTarget;

/** The handler of deliveries over an engine that accepts the signature "valid". */
function openHooks() {
  let now = 1_000;
  let checked = 0;
  const refusals: { trigger: string; code: string }[] = [];
  const triggers: Partial<TriggersApi> = {
    async find(token) {
      if (OWNERS[token] === undefined) throw new AppError("trigger_not_found", "There is no such trigger.");
      return targetOf(token);
    },
    async checkSignature(_target, { headers }) {
      checked += 1;
      if (headers["x-signature"] !== "valid") throw new AppError("signature_invalid", "It does not fit.");
      return null;
    },
    receive: async () => ({ deliveryId: "trd_1", runId: "run_1", receivedAt: "", repeated: false }),
    async recordRefusal({ record }, { code }) {
      refusals.push({ trigger: record.id, code });
    },
  };
  const services = { engine: { triggers }, log: pino({ level: "silent" }), meter: noMeter };
  const handle = receiveDelivery(services as unknown as Services, bodyMemory(), () => now);

  /** Sends a delivery. @returns its status, or the code of its refusal */
  async function send(
    ip: string,
    token: string,
    signature?: string,
    body?: string,
  ): Promise<number | string> {
    const answer = { status: 0 };
    const res = Object.assign(new EventEmitter(), {
      locals: {},
      setHeader: () => res,
      status: (status: number) => Object.assign(res, Object.assign(answer, { status })),
      end: () => undefined,
    });
    const headers = {
      ...(signature !== undefined && { "x-signature": signature }),
      ...(body && { "content-encoding": body, "content-length": "1" }),
    };
    const headersDistinct = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value]]),
    );
    const req = {
      ip,
      params: { token },
      originalUrl: `/hooks/${token}`,
      headers,
      headersDistinct,
      query: {},
    };
    try {
      await handle(req as unknown as Request<{ token: string }>, res as unknown as Response);
      return answer.status;
    } catch (error) {
      return toAppError(error).code;
    }
  }

  /** Sends deliveries until one is refused for their number, at most 5,000. @returns how many were answered otherwise */
  async function flood(ip: string, token: string, signature?: string): Promise<number> {
    for (let count = 0; count < 5_000; count += 1)
      if ((await send(ip, token, signature)) === "rate_limited") return count;
    return 5_000;
  }

  return { send, flood, refusals, checked: () => checked, wait: (ms: number) => (now += ms) };
}

describe("the budgets of webhooks, against a sender who knows the URL of a trigger and no secret", () => {
  it("leave signed deliveries to the trigger, to others of its owner and to those of others", async () => {
    const { send, flood } = openHooks();
    for (let host = 1; host <= 10; host += 1) await flood(`192.0.2.${host}`, "a", "forged");
    for (const token of ["a", "b", "other"]) expect(await send(SENDER, token, "valid")).toBe(202);
  });

  it("leave them all of their own budgets", async () => {
    const { flood } = openHooks();
    for (let host = 1; host <= 4; host += 1) await flood(`192.0.2.${host}`, "a", "forged");
    expect(await flood(SENDER, "a", "valid")).toBe(600);
  });

  it("limit what one network sends to a trigger, and to all of them, before a signature is computed", async () => {
    const { send, flood, checked, wait } = openHooks();
    expect(await flood(ATTACKER, "a", "forged")).toBe(600);
    expect(checked()).toBe(600);
    // The one that was refused counts too.
    expect(await flood(ATTACKER, "b", "forged")).toBe(599);
    expect(await send(ATTACKER, "other", "valid")).toBe("rate_limited");
    expect(checked()).toBe(1_199);
    wait(MINUTE + 1);
    expect(await send(ATTACKER, "other", "valid")).toBe(202);
  });

  it("charge nobody for a token that is none", async () => {
    const { send, flood, checked } = openHooks();
    expect(await flood(ATTACKER, "guess", "valid")).toBe(1_200);
    expect(checked()).toBe(0);
    expect(await send(SENDER, "a", "valid")).toBe(202);
  });

  it("list few of its refusals, and none for their number", async () => {
    const { send, flood, refusals } = openHooks();
    await flood(ATTACKER, "a", "forged");
    expect(refusals).toEqual(Array.from({ length: 5 }, () => ({ trigger: "a", code: "signature_invalid" })));
    expect(await send(SENDER, "a", "wrong")).toBe("signature_invalid");
    expect(refusals).toHaveLength(6);
    expect(await send(SENDER, "a", "valid", "gzip")).toBe("unsupported_media_type");
    expect(refusals.at(-1)).toEqual({ trigger: "a", code: "unsupported_media_type" });
  });
});

describe("the budgets of webhooks, for senders with a valid signature", () => {
  it("are those of the trigger, then those of its owner, from all networks together", async () => {
    const { send, flood, refusals } = openHooks();
    const networks = (token: string) => [1, 2].map((host) => flood(`198.51.100.${host}`, token, "valid"));
    const accepted = async (token: string): Promise<number> =>
      (await Promise.all(networks(token))).reduce((sum, count) => sum + count, 0);
    expect(await accepted("a")).toBe(600);
    expect(await accepted("b")).toBe(600);
    expect(await accepted("c")).toBe(0);
    expect(await send(SENDER, "other", "valid")).toBe(202);
    expect(refusals.at(-1)).toEqual({ trigger: "c", code: "rate_limited" });
  });
});
