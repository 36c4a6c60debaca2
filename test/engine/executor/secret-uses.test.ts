import { describe, expect, it } from "vitest";
import { auditReader } from "../../../src/store/audit.ts";
import { runToEnd, testEngine } from "../../support/engine.ts";
import { WIRE_FORMATS } from "../../support/mock-model-server.ts";
import { mockHttpServer, sendJson } from "../../support/mock-http-server.ts";

const SECRETS = [
  { name: "hook", key_var: "HOOK", hosts: ["127.0.0.1"] },
  { name: "other", key_var: "OTHER", hosts: ["127.0.0.1"] },
  { name: "elsewhere", key_var: "OTHER", hosts: ["hooks.example.com"] },
];

async function setUp(auditSecrets = true) {
  const statuses: number[] = [];
  /** What was on record when each request came. */
  const seen: number[] = [];
  const peer = await mockHttpServer(async (_request, response) => {
    seen.push((await uses()).length);
    sendJson(response, {}, statuses.shift() ?? 200);
  });
  const engine = await testEngine({
    auditSecrets,
    config: { http: { allowed_hosts: ["127.0.0.1"] }, secrets: SECRETS },
    env: { HOOK: "first-s3cret", OTHER: "second-s3cret" },
  });
  const audit = auditReader(engine.store.read);
  const uses = async (target?: string) =>
    (await audit.page({ filter: { operation: "use_secret", target }, before: null, limit: 50 })).toReversed();
  const run = async (...steps: object[]) => {
    const { id, queue } = await runToEnd(engine, { steps });
    await queue.stop(0);
    return id;
  };
  return { engine, peer, statuses, seen, uses, run };
}

const headersOf = (...names: string[]) =>
  Object.fromEntries(names.map((secret, index) => [`X-Key-${index}`, { secret }]));

describe("the logins of connections", () => {
  it("are on record before a model is asked, with the variable, the connection and the host", async () => {
    const wire = WIRE_FORMATS["openai-compatible"];
    const peer = await mockHttpServer((_request, response) => sendJson(response, wire.answer("Hi", "stop")));
    const models = [
      {
        name: "writer",
        vendor: "openai-compatible",
        model_ref: "w",
        base_url: peer.url + wire.base,
        key_var: "WRITER_KEY",
      },
    ];
    const step = { id: "ask", type: "model", model: "writer", prompt: "Hello" };
    for (const auditSecrets of [true, false]) {
      const engine = await testEngine({ auditSecrets, config: { models }, env: { WRITER_KEY: "s3cret" } });
      const { id, queue, status } = await runToEnd(engine, { steps: [step] });
      await queue.stop(0);
      expect(status).toBe("succeeded");
      const filter = { operation: "use_secret" };
      const found = await auditReader(engine.store.read).page({ filter, before: null, limit: 9 });
      expect(found.map(({ target, details }) => ({ target, ...details }))).toEqual(
        auditSecrets
          ? [
              {
                target: "secret:WRITER_KEY",
                connection: "model:writer",
                host: peer.host,
                run_id: id,
                step_id: "ask",
                attempt: 1,
              },
            ]
          : [],
      );
      expect(JSON.stringify(found)).not.toContain("s3cret");
    }
  });
});

describe("the uses of secrets", () => {
  it("are on record before they are sent: each secret and host of an attempt once", async () => {
    const { peer, seen, uses, run } = await setUp();
    const id = await run({
      id: "send",
      type: "http",
      method: "POST",
      url: `${peer.url}/a`,
      headers: headersOf("hook", "other", "hook"),
    });
    expect(seen).toEqual([2]);
    expect((await uses()).map(({ target, details }) => Object.assign({ target }, details))).toEqual(
      ["hook", "other"].map((name) => ({
        target: `secret:${name}`,
        host: peer.host,
        run_id: id,
        step_id: "send",
        attempt: 1,
      })),
    );
    expect(await uses("secret:hook")).toHaveLength(1);
    expect(JSON.stringify(await uses())).not.toContain("s3cret");
  });

  it("are on record for each attempt, each item, and each undo", async () => {
    const { peer, statuses, uses, run } = await setUp();
    statuses.push(503, 200, 200, 200, 500);
    await run(
      {
        id: "retried",
        type: "http",
        method: "POST",
        url: peer.url,
        headers: headersOf("hook"),
        retry: { attempts: 2, initial: "1ms" },
        undo: { type: "http", method: "DELETE", url: peer.url, headers: headersOf("other") },
      },
      {
        id: "each",
        type: "http",
        needs: ["retried"],
        for_each: "[1, 2]",
        url: peer.url,
        headers: headersOf("hook"),
      },
      { id: "fails", type: "http", needs: ["each"], url: peer.url, headers: headersOf("hook") },
    );
    const recorded = (await uses()).map(({ target, details }) =>
      [target, details?.["step_id"], details?.["item"] ?? "-", details?.["attempt"]].join(" "),
    );
    // Items run at the same time.
    expect(recorded.toSorted()).toEqual([
      "secret:hook each 0 1",
      "secret:hook each 1 1",
      "secret:hook fails - 1",
      "secret:hook retried - 1",
      "secret:hook retried - 2",
      "secret:other undo:retried - 1",
    ]);
  });

  it("are not on record for secrets that are not sent, nor for hosts that can't be called", async () => {
    const { peer, uses, run } = await setUp();
    const request = (id: string, more: object) => ({ id, type: "http", url: peer.url, ...more });
    // What the check of the definition can't know.
    const given = {
      id: "given",
      type: "set",
      values: { hook: "hook", elsewhere: "elsewhere", url: "http://10.0.0.1/" },
    };
    await run(given, request("a", { headers: headersOf("${{ steps.given.elsewhere }}") }));
    await run(given, request("b", { headers: headersOf("hook"), url: "${{ steps.given.url }}" }));
    await run(request("c", { headers: { "X-Key": "no secret" } }));
    expect([peer.received.length, await uses()]).toEqual([1, []]);
    await run(given, request("d", { headers: headersOf("${{ steps.given.hook }}") }));
    expect(await uses()).toHaveLength(1);
  });

  it("are not on record unless the operator asks for it", async () => {
    const { peer, uses, run } = await setUp(false);
    await run({ id: "send", type: "http", url: peer.url, headers: headersOf("hook") });
    expect(peer.received).toHaveLength(1);
    expect(await uses()).toEqual([]);
  });
});
