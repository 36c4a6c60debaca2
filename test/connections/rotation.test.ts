import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { Config } from "../../schemas/config.ts";
import { createHttpClient } from "../../src/connections/http/index.ts";
import { createMailer } from "../../src/connections/mail/index.ts";
import { createMcpServers } from "../../src/connections/mcp-servers/index.ts";
import { createModels } from "../../src/connections/models/index.ts";
import { secretMasker } from "../../src/connections/secret-masker.ts";
import type { HttpRequest } from "../../src/core/connections.ts";
import { callOf } from "../support/call-context.ts";
import { mcpHttpServer } from "../support/mcp-server-http.ts";
import { errorReply, mockModelServer, modelConfig } from "../support/mock-model-server.ts";
import { mockHttpServer, parseConfig, sendJson, stepErrorOf } from "../support/mock-http-server.ts";
import { smtpPeer } from "../support/mock-smtp-server.ts";
import { secretFiles, type SecretFiles } from "../support/secrets.ts";

const FIRST = "first-s3cret-value";
const SECOND = "second-s3cret-value";

/** An http client with a secret, at a server that accepts `accepted` and repeats what it was sent. */
async function echo(files: SecretFiles, { accepted = /./, padding = 0 } = {}) {
  const peer = await mockHttpServer(({ headers }, response) => {
    const sent = String(headers["x-key"]);
    sendJson(response, { sent, padding: "x".repeat(padding) }, accepted.test(sent) ? 200 : 401);
  });
  const client = createHttpClient(
    parseConfig({
      http: { allowed_hosts: ["127.0.0.1"] },
      secrets: [{ name: "hook", key_var: "HOOK", hosts: ["127.0.0.1"] }],
    }),
    files.secrets,
  );
  onTestFinished(() => client.close());
  const send = (method = "GET", more: Partial<HttpRequest> = {}) =>
    client.send(
      { url: peer.url, method, headers: { "X-Key": { secret: "hook" } }, maxBytes: 1_000_000, ...more },
      callOf(),
    );
  const sent = (): unknown[] => peer.received.map(({ headers }) => headers["x-key"]);
  return { client, send, sent };
}

describe("a replaced secret of http steps", () => {
  it("is sent by the next request", async () => {
    const files = secretFiles({ HOOK: FIRST });
    const { send, sent } = await echo(files);
    await send();
    files.replace("HOOK", SECOND);
    files.advance(1_000);
    await send();
    expect(sent()).toEqual([FIRST, SECOND]);
  });

  it.each([
    ["small", 0],
    ["large, which a thread reads", 200_000],
  ])("and its former value are masked in responses that are %s", async (_, padding) => {
    const files = secretFiles({ HOOK: FIRST });
    const { send } = await echo(files, { padding });
    const masked = async (text: string) =>
      JSON.stringify((await send("GET", { headers: { "X-Key": text } })).body);
    expect(await masked(`${FIRST} ${SECOND}`)).toContain(`*** ${SECOND}`);
    files.replace("HOOK", SECOND);
    files.advance(1_000);
    expect(await masked(`${FIRST} ${SECOND}`)).toContain("*** ***");
  });

  it("is sent at once if a GET was refused with the former one", async () => {
    const files = secretFiles({ HOOK: FIRST });
    const { send, sent } = await echo(files, { accepted: /second/ });
    files.replace("HOOK", SECOND);
    expect(await send()).toMatchObject({ status: 200, body: { sent: "***" } });
    expect(sent()).toEqual([FIRST, SECOND]);
  });

  it("is not sent at once if a POST was refused, because that could repeat an effect, but by the next request", async () => {
    const files = secretFiles({ HOOK: FIRST });
    const { send, sent } = await echo(files, { accepted: /second/ });
    files.replace("HOOK", SECOND);
    expect(await send("POST")).toMatchObject({ status: 401 });
    expect(await send("POST")).toMatchObject({ status: 200 });
    expect(sent()).toEqual([FIRST, SECOND]);
  });

  it("is not sent a second time if it is the one that was refused", async () => {
    const files = secretFiles({ HOOK: FIRST });
    const { send, sent } = await echo(files, { accepted: /second/ });
    expect(await send()).toMatchObject({ status: 401 });
    expect(sent()).toEqual([FIRST]);
  });

  it("says why it has no value, without the path of the file, and can be used when it has one", async () => {
    const files = secretFiles({ HOOK: "" });
    const { client, send } = await echo(files);
    const [entry] = client.secrets();
    expect(entry?.unavailableReason).toBe("has no value: the file that HOOK_FILE names is empty");
    expect((await stepErrorOf(send())).message).toBe(
      'The secret "hook" has no value: the file that HOOK_FILE names is empty.',
    );
    files.replace("HOOK", FIRST);
    files.advance(1_000);
    expect(client.secrets()).toMatchObject([{ unavailableReason: null }]);
    expect(await send()).toMatchObject({ status: 200 });
  });
});

describe("the masker", () => {
  it("finds the last seventeen values of a secret", () => {
    const files = secretFiles({ HOOK: "value number 0" });
    const mask = secretMasker({ secrets: [{ name: "hook", key_var: "HOOK", hosts: ["h"] }] }, files.secrets);
    expect(mask.text("value number 0")).toBe("***");
    for (let count = 1; count <= 17; count += 1) {
      files.replace("HOOK", `value number ${count}`);
      files.advance(1_000);
      expect(mask.text(`value number ${count}`)).toBe("***");
    }
    expect(mask.secrets()).toHaveLength(17);
    expect(mask.text("value number 5")).toBe("***");
    expect(mask.text("value number 17")).toBe("***");
  });
});

describe("a replaced key of a model", () => {
  const request = { model: "writer", prompt: "Hello?" };

  it("is used for the next call, and at once after the former one was refused", async () => {
    const vendor = "openai-compatible";
    const peer = await mockModelServer(vendor, { text: "a" }, { text: "b" }, errorReply(vendor, 401), {
      text: "c",
    });
    const files = secretFiles({ MODEL_KEY: FIRST });
    const models = createModels(modelConfig(vendor, peer), files.secrets, { now: () => 0 });
    const say = async () => (await models.generate(request, callOf())).text;
    expect(await say()).toBe("a");
    files.replace("MODEL_KEY", SECOND);
    files.advance(1_000);
    expect(await say()).toBe("b");
    files.replace("MODEL_KEY", "third-s3cret-value");
    expect(await say()).toBe("c");
    expect(peer.received.map(({ headers }) => headers.authorization)).toEqual(
      [FIRST, SECOND, SECOND, "third-s3cret-value"].map((key) => `Bearer ${key}`),
    );
  });

  it("is not asked for twice if the same one was refused", async () => {
    const peer = await mockModelServer("openai-compatible", errorReply("openai-compatible", 401));
    const files = secretFiles({ MODEL_KEY: FIRST });
    const models = createModels(modelConfig("openai-compatible", peer), files.secrets, { now: () => 0 });
    expect((await stepErrorOf(models.generate(request, callOf()))).message).toContain(
      "does not accept its key",
    );
    expect(peer.received).toHaveLength(1);
  });
});

/** Calls tools of one MCP server with a variable PEER_KEY. */
function mcpServer(entry: object, files: SecretFiles) {
  const config = Config.parse({ mcp_servers: [{ name: "peer", ...entry }] });
  const all = createMcpServers(config, files.secrets, { now: Date.now });
  onTestFinished(() => all.close());
  const call = (tool: string, args = {}, signal?: AbortSignal): Promise<unknown> =>
    all.call("peer", tool, args, { idempotencyKey: "run:step:0:abc" }, callOf(signal));
  return { call };
}

const STDIO = {
  command: process.execPath,
  args: [new URL("../support/mcp-server-stdio.ts", import.meta.url).pathname],
};
const tokenOf = (pid: unknown): string | undefined =>
  /(?:^|\0)PEER_TOKEN=([^\0]*)/.exec(readFileSync(`/proc/${String(pid)}/environ`, "utf8"))?.[1];

describe("a replaced secret of an MCP server", () => {
  it("starts a new process with the new value, while calls of the former one end there", async () => {
    const files = secretFiles({ PEER_KEY: FIRST });
    const { call } = mcpServer({ ...STDIO, env: { PEER_TOKEN: "PEER_KEY" } }, files);
    const first = await call("pid");
    expect([tokenOf(first), await call("pid")]).toEqual([FIRST, first]);
    const hanging = new AbortController();
    const still = call("hang", {}, hanging.signal);
    // Started after it, and ended.
    expect(await call("pid")).toBe(first);
    files.replace("PEER_KEY", SECOND);
    files.advance(1_000);
    const second = await call("pid");
    expect(tokenOf(second)).toBe(SECOND);
    expect(tokenOf(first)).toBe(FIRST);
    hanging.abort(new Error("enough"));
    await expect(still).rejects.toThrowError("enough");
    expect(await call("pid")).toBe(second);
    // With its last call, the former process has ended.
    await expect
      .poll(() => {
        try {
          return process.kill(Number(first), 0);
        } catch {
          return false;
        }
      })
      .toBe(false);
  });

  it.each(["streamable", "sse"] as const)("is sent over HTTP (%s), at once after a refusal", async (leg) => {
    const files = secretFiles({ PEER_KEY: FIRST });
    let accepted = FIRST;
    const peer = await mcpHttpServer({ key: () => accepted, leg });
    const { call } = mcpServer({ url: peer.url, key_var: "PEER_KEY" }, files);
    expect(await call("add", { a: 1, b: 2 })).toEqual({ sum: 3 });
    accepted = SECOND;
    files.replace("PEER_KEY", SECOND);
    expect(await call("add", { a: 2, b: 2 })).toEqual({ sum: 4 });
    expect(peer.headers.at(-1)?.authorization).toBe(`Bearer ${SECOND}`);
    expect(peer.openedSessionCount()).toBe(1);
  });
});

describe("a replaced password of the mail server", () => {
  it("is used at once if the former one was refused, and the mail is sent once", async () => {
    const files = secretFiles({ MAIL_PASSWORD: FIRST });
    let logins = 0;
    const { port, received } = await smtpPeer((password) => (logins += 1) > 0 && password === SECOND);
    const mailer = createMailer(
      Config.parse({
        authentication: {
          basic: {
            smtp_user: "millrace@example.com",
            smtp_password_var: "MAIL_PASSWORD",
            smtp_server: "127.0.0.1",
            smtp_port: port,
          },
        },
        mail: { allowed_domains: ["example.com"] },
      }),
      files.secrets,
    );
    const mail = { to: ["ada@example.com"], subject: "Hello", text: "Hello.", idempotencyKey: "k" };
    expect((await stepErrorOf(mailer.send(mail, callOf()))).message).toContain(
      "refused the user and password",
    );
    expect(logins).toBe(1);
    files.replace("MAIL_PASSWORD", SECOND);
    await mailer.send(mail, callOf());
    expect([logins, received.length]).toEqual([3, 1]);
  });
});
