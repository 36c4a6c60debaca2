import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { apiClient } from "../support/http.ts";
import { testCli } from "../support/command-line.ts";
import { eventually, untilPassing } from "../support/eventually.ts";
import { mockHttpServer, type ReceivedRequest, sendJson } from "../support/mock-http-server.ts";
import { WIRE_FORMATS } from "../support/mock-model-server.ts";
import { runCommand, startProgram } from "../support/process.ts";

const ASKS =
  'name: Asks\nsteps:\n  - { id: say, type: model, model: writer, prompt: Hello? }\noutput: "${{ steps.say.text }}"\n';
const FIRST = "first-s3cret";
const SECOND = "second-s3cret";

/** A model whose key is in a file, and that answers with what `answer` returns. */
async function setUp(answer: (request: ReceivedRequest) => string = () => "Hello.") {
  const { directory, stateDir } = await testCli({ asks: ASKS });
  const wire = WIRE_FORMATS["openai-compatible"];
  const peer = await mockHttpServer((request, response) =>
    sendJson(response, wire.answer(answer(request), "stop")),
  );
  const config = join(directory, "config.yaml");
  const model = { name: "writer", vendor: "openai-compatible", model_ref: "m", key_var: "WRITER_KEY" };
  writeFileSync(config, JSON.stringify({ models: [{ ...model, base_url: `${peer.url}/v1` }] }));
  const key = join(directory, "key");
  writeFileSync(key, `${FIRST}\n`);
  const env = { MILLRACE_STATE_DIR: stateDir, MILLRACE_CONFIG: config, WRITER_KEY_FILE: key };
  return { stateDir, env, peer, key };
}

/** Starts a server, and returns a function that runs the workflow on it to its end. */
async function serve({ stateDir, env }: Awaited<ReturnType<typeof setUp>>) {
  const { out: apiKey } = await runCommand(["keys", "create", "--name", "ci"], env);
  const { url, log } = await startProgram("serve", stateDir, { env });
  const run = async (): Promise<{ status: string; output: unknown }> =>
    (await apiClient(url, apiKey.trim())("POST", "/workflows/asks/runs", { wait: 30 })).body;
  return { run, log };
}

describe("a secret in a file", () => {
  it("is used by commands that execute a run themselves, and by the executors of a server", async () => {
    const there = await setUp();
    const { peer } = there;
    const command = await runCommand(["run", "asks"], there.env);
    expect(command).toMatchObject({ code: 0 });
    const { run, log } = await serve(there);
    expect(await run()).toMatchObject({ status: "succeeded" });
    expect(peer.received.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${FIRST}`,
      `Bearer ${FIRST}`,
    ]);
    expect(log() + command.err + command.out).not.toContain("s3cret");
  });

  it("can be replaced while the server runs: runs send the new value, and both values are masked", async () => {
    let former = "nothing";
    const there = await setUp(({ headers }) => `You sent ${headers.authorization}, before ${former}.`);
    const { run, log } = await serve(there);
    expect(await run()).toMatchObject({ output: "You sent Bearer ***, before nothing." });
    writeFileSync(`${there.key}.new`, `${SECOND}\n`);
    renameSync(`${there.key}.new`, there.key);
    await eventually(async () => {
      expect(await run()).toMatchObject({ output: "You sent Bearer ***, before nothing." });
      return there.peer.received.at(-1)?.headers.authorization === `Bearer ${SECOND}` || undefined;
    }, "the new value");
    former = FIRST;
    expect(await run()).toMatchObject({ output: "You sent Bearer ***, before ***." });
    await untilPassing(() => expect(log()).toContain('"msg":"secret replaced"'));
    expect(log()).not.toContain("s3cret");
  });

  it("that does not exist fails only the runs that need it, until it exists", async () => {
    const there = await setUp();
    rmSync(there.key);
    const { run, log } = await serve(there);
    await untilPassing(() =>
      expect(log()).toContain("can't be used: the file that WRITER_KEY_FILE names cannot be read"),
    );
    expect(await run()).toMatchObject({ status: "failed" });
    writeFileSync(there.key, FIRST);
    await eventually(async () => (await run()).status === "succeeded" || undefined, "a run with the secret");
  });

  it.each(["run asks", "serve --port 0", "worker", "start --port 0"])(
    "ends millrace %s with exit code 3 if the variable is set, too",
    async (command) => {
      const { env } = await setUp();
      const { code, err } = await runCommand(command.split(" "), { ...env, WRITER_KEY: "s3cret" });
      expect({ code, err }).toEqual({
        code: 3,
        err: "environment: WRITER_KEY and WRITER_KEY_FILE are both set. Set only one of them\n",
      });
    },
  );
});

describe("a secret of an http step", () => {
  it("can come from a command, and its uses can be in the audit log", async () => {
    const peer = await mockHttpServer((_request, response) => sendJson(response, {}));
    const { directory, stateDir } = await testCli({
      send: `name: Send\nsteps:\n  - { id: post, type: http, method: POST, url: ${peer.url}, headers: { X-Key: { secret: hook } } }\n`,
    });
    const config = join(directory, "config.yaml");
    const vault = join(directory, "vault.mjs");
    writeFileSync(vault, `console.log(process.env.VAULT_KEY + " for " + process.argv[2]);`);
    writeFileSync(
      config,
      JSON.stringify({
        http: { allowed_hosts: ["127.0.0.1"] },
        secrets: [{ name: "hook", key_var: "HOOK_TOKEN", hosts: ["127.0.0.1"] }],
        secret_command: { command: process.execPath, args: [vault, "{name}"], env: ["VAULT_KEY"] },
        audit: { secrets: true },
      }),
    );
    const env = { MILLRACE_STATE_DIR: stateDir, MILLRACE_CONFIG: config, VAULT_KEY: FIRST };
    const keyArguments = ["keys", "create", "--name", "ci", "--scope", "read", "run", "admin"];
    const { out: apiKey } = await runCommand(keyArguments, env);
    const { url, log } = await startProgram("serve", stateDir, { env });
    const call = apiClient(url, apiKey.trim());
    const { body: run } = await call("POST", "/workflows/send/runs", { wait: 30 });
    expect(run).toMatchObject({ status: "succeeded" });
    // A command that executes the run itself asks the command, too.
    expect(await runCommand(["run", "send"], env)).toMatchObject({ code: 0 });
    expect(peer.received.map(({ headers }) => headers["x-key"])).toEqual([
      `${FIRST} for HOOK_TOKEN`,
      `${FIRST} for HOOK_TOKEN`,
    ]);
    const { body: audit, status } = await call("GET", "/audit-log?target=secret:hook&operation=use_secret");
    expect({ status, audit }).toMatchObject({
      status: 200,
      audit: [
        { owner: "operator", key_name: "command line", surface: "cli" },
        { key_name: "ci", details: { host: peer.host, run_id: run.id, step_id: "post", attempt: 1 } },
      ],
    });
    expect(log() + JSON.stringify(audit)).not.toContain("s3cret");
  });
});
