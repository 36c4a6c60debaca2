import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { maskKeys, redactSecrets } from "../../src/commands/log-redaction.ts";
import { eventually } from "../support/eventually.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { connect } from "../support/mcp.ts";
import { type Program, startProgram } from "../support/process.ts";

type Line = Record<string, unknown> & { msg: string };

const linesOf = ({ log }: Program): Line[] =>
  log()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);

/** Waits for a line that matches, and returns it. */
const lineOf = (program: Program, holds: (line: Line) => boolean, what: string): Promise<Line> =>
  eventually(() => linesOf(program).find(holds), what);

/** The secret part of an event's URL. */
const EVENT_MAC = "Q".repeat(32);
const FAIL = { steps: [{ id: "no", type: "assert", that: "1 > 2", message: "A secret of a customer." }] };

describe("the log of a process", () => {
  it("is JSON, with the ids of request, workflow, run, step and executor where they are known", async () => {
    const instance = await testInstance();
    const { value: key } = await instance.key();
    const program = await startProgram("serve", instance.stateDir);
    const call = apiClient(program.url, key);
    const { body: workflow } = await call("POST", "/workflows", {
      name: "Fail",
      description: "",
      definition: FAIL,
    });
    const headers = { "X-Request-Id": "my-request" };
    const { body: run } = await call("POST", `/workflows/${workflow.id}/runs`, { wait: 20 }, headers);
    expect(run.status).toBe("failed");
    const ids = { workflow_id: workflow.id, run_id: run.id };

    const operation = await lineOf(program, (one) => one.msg === "run_workflow", "the operation");
    expect(operation).toMatchObject({
      name: "serve",
      level: 30,
      request_id: "my-request",
      surface: "rest",
      ...ids,
    });
    const accepted = await lineOf(program, (one) => one.msg === "run accepted", "its beginning");
    expect(accepted).toMatchObject({ ...ids, trigger: "rest", status: "queued", request_id: "my-request" });
    const failed = await lineOf(program, (one) => one.msg === "step failed", "the step's failure");
    expect(failed).toMatchObject({
      name: "worker",
      level: 30,
      ...ids,
      step_id: "no",
      attempt: 1,
      type: "assert",
    });
    expect(failed).toMatchObject({ code: "assert_failed", executor: expect.stringMatching(/^exe_/) });
    const ended = await lineOf(program, (one) => one.msg === "run failed", "its end");
    expect(ended).toMatchObject({ ...ids, status: "failed", code: "assert_failed", ms: expect.any(Number) });
    // Each event is logged once, even if its transaction is rolled back and retried.
    for (const msg of ["run accepted", "step failed", "run failed"])
      expect(linesOf(program).filter((one) => one.msg === msg)).toHaveLength(1);
    expect(program.log()).not.toContain("secret of a customer");

    await call("GET", `/runs/${run.id}`);
    expect(await lineOf(program, (one) => one.msg === "get_run", "a look")).toMatchObject({ run_id: run.id });
  });

  it.each(["serve", "mcp-sse"] as const)(
    "of %s contains no key and no cookie, wherever they are sent",
    async (command) => {
      const instance = await testInstance();
      const { value: key } = await instance.key();
      const { value: other } = await instance.key({ scopes: ["read"] });
      const args = ["--workers", "0"];
      const program = await startProgram(command, instance.stateDir, {
        args,
        env: { MILLRACE_LOG_LEVEL: "debug" },
      });
      const call = apiClient(program.url, key);
      const secrets = {
        Cookie: "session=COOKIE-1",
        Authorization: "Bearer BEARER-1",
        "X-Amzn-Oidc-Data": "OIDC-1",
      };
      await call("GET", `/workflows/${key}`, undefined, secrets);
      await call("GET", `/${key}?key=${other}`, undefined, { ...secrets, "X-Request-Id": key });
      await call("POST", "/workflows", { [key]: other, name: key, description: "" });
      await call("POST", "/workflows", `{"name": "${key}`);
      await call("POST", "/workflows/validate", { definition: { steps: [{ id: key }] } });
      await call("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: key, params: { name: other } });
      await call("POST", `/messages?sessionId=${key}`, {});
      await apiClient(program.url, `${other.slice(0, -1)}x`)("GET", "/workflows");
      await apiClient(program.url, other)("POST", "/workflows", { name: "x", description: "" });
      await call("POST", "/session", { email: "ann@example.com", password: "PASSWORD-1" });
      const token = `run_8dkq2m0sfj3a.callback.${EVENT_MAC}`;
      for (const method of ["POST", "GET"]) await apiClient(program.url)(method, `/events/${token}`);
      if (command === "mcp-sse") {
        const client = await connect("v2 that negotiates", program.url, key);
        await client.call("get_workflow", { workflow_id: other });
        await client.call("list_workflows", { search: key, [other]: key });
      }
      expect((await program.stop()).code).toBe(0);
      expect(linesOf(program).length).toBeGreaterThan(5);
      const log = program.log();
      const secretValues = [
        key,
        other,
        other.slice(0, -1),
        "COOKIE-1",
        "BEARER-1",
        "OIDC-1",
        "PASSWORD-1",
        EVENT_MAC,
      ];
      expect(secretValues.filter((secret) => log.includes(secret))).toEqual([]);
      expect(log).toContain("mill_[hidden]");
    },
    30_000,
  );
});

describe("the redaction of secrets", () => {
  const written: string[] = [];
  const log = pino(
    {
      formatters: { log: (fields) => redactSecrets(fields) },
      serializers: { err: (one: unknown) => one },
      hooks: { streamWrite: maskKeys },
    },
    { write: (line: string) => void written.push(line) },
  );
  const lineWith = (fields: object): string => {
    log.info(fields, "x");
    return written.at(-1)!;
  };

  it.each([
    ["headers"],
    ["authorization"],
    ["Authorization"],
    ["x-api-key"],
    ["cookie"],
    ["set-cookie"],
    ["x-amzn-oidc-data"],
    ["X-Amzn-Oidc-Accesstoken"],
    ["password"],
    ["token"],
    ["secret"],
    ["value"],
    ["refreshToken"],
    ["client_secret"],
    ["apiKey"],
    ["requestBodyValues"],
  ])("redacts %s at the top level, in nested objects and in lists", (name) => {
    for (const fields of [
      { [name]: "S" },
      { a: { [name]: { b: "S" } } },
      { a: { b: { [name]: ["S"] } } },
      { a: { b: { c: { [name]: "S" } } } },
      { a: [1, { [name]: "S" }] },
      { err: Object.assign(new Error("x"), { response: { config: { [name]: "S" } } }) },
    ]) {
      const line = lineWith(fields);
      expect(line).toContain("[hidden]");
      expect(line).not.toContain('"S"');
    }
  });

  it("redacts properties that a library adds to an error, and keeps the message", () => {
    const cause = new Error("the cause");
    const error = Object.assign(new TypeError("it failed", { cause }), { headers: { "x-api-key": "S" } });
    const line = JSON.parse(lineWith({ err: error })) as { err: Record<string, unknown> };
    expect(line.err).toMatchObject({ type: "TypeError", headers: "[hidden]" });
    expect(line.err["message"]).toBe("it failed: the cause");
    expect(line.err["stack"]).toContain("log.test.ts");
  });

  it("masks API keys in any text, also in the stack of an error", () => {
    const key = `mill_${"aB3".repeat(12)}`;
    const line = lineWith({ path: `/runs/${key}`, err: new Error(`no ${key}`), list: [[[{ key }]]] });
    expect(line).not.toContain(key);
    expect(line.match(/mill_\[hidden\]/g)!.length).toBeGreaterThanOrEqual(4);
  });

  it.each([
    ["/hooks/trg_AbCdEfGhIjKl.T"],
    ["/hooks/trg%5FAbCdEfGhIjKl%2ET"],
    ["/hooks/trg_AbCdEfGhIjKl.Tx"],
    ["/hooks/trg_AbCdEfGhIjKl.T%78"],
    ["/events/run_AbCdEfGhIjKl.wait.T"],
    ["/events/run_AbCdEfGhIjKl.wait.T-y"],
    ["/events/run_AbCdEfGhIjKl%2Ewait%2ET"],
  ])("masks the token of %s, also with something behind it", (path) => {
    const token = "aB3dE".repeat(6) + "zZ";
    const line = lineWith({ path: path.replace("T", token), after: "kept" });
    expect(line).not.toContain(token.slice(0, -1));
    expect(JSON.parse(line)).toMatchObject({ path: expect.stringMatching(/\[hidden\]$/), after: "kept" });
  });

  it("masks a token with a character that is written with a percent sign", () => {
    const line = lineWith({ path: `/hooks/trg_AbCdEfGhIjKl.${"aB3dE".repeat(6)}z%5A` });
    expect(line).not.toContain("aB3dE");
  });

  it("changes nothing else, and does not change its argument", () => {
    const fields = { a: { value: 1 }, run_id: "run_1", tokens: 5, key: "key_1" };
    expect(redactSecrets(fields)).toEqual({ ...fields, a: { value: "[hidden]" } });
    expect(fields.a.value).toBe(1);
  });
});

describe("a log with a masker", () => {
  it("contains no secret of the configuration, whatever field it is in", () => {
    const program = [
      "const { openLog } = await import('./src/commands/io.ts');",
      "const { createMasker } = await import('./src/connections/masking.ts');",
      "const io = { out() {}, err() {}, terminal: false, errTerminal: false, env: {}, onExit() {} };",
      "const log = await openLog(io, 'info', 'serve', createMasker(['correct \\'horse\\'']));",
      "log.warn({ said: 'refused correct%20%27horse%27', path: '/a' }, 'call of \\\"correct \\'horse\\'\\\"');",
    ].join("\n");
    const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
      cwd: fileURLToPath(new URL("../../", import.meta.url)),
      encoding: "utf8",
    });
    expect(JSON.parse(stderr)).toMatchObject({
      said: expect.stringMatching(/^refused \*\*\*/),
      path: "/a",
      msg: expect.stringContaining("***"),
    });
    expect(stderr).not.toContain("horse");
  });
});

describe("a log at a terminal", () => {
  it("is readable lines on a terminal", () => {
    const program = [
      "const { openLog } = await import('./src/commands/io.ts');",
      "const io = { out() {}, err() {}, terminal: true, errTerminal: true, env: {}, onExit() {} };",
      "const log = await openLog(io, 'info', 'serve');",
      "log.info({ run_id: 'run_1', token: 'S' }, 'run accepted');",
    ].join("\n");
    const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
      cwd: fileURLToPath(new URL("../../", import.meta.url)),
      encoding: "utf8",
    });
    expect(stripVTControlCharacters(stderr)).toMatch(
      /^\[\d\d:\d\d:\d\d\] INFO \(serve\): run accepted \{"run_id":"run_1","token":"\[hidden\]"\}\n$/,
    );
  });
});
