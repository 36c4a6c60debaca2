import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startTestExecutor } from "../support/executor.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { runHere } from "../support/process.ts";
import { openRest } from "../support/rest.ts";

const GOOD = "name: Good\nsteps:\n  - { id: one, type: set, values: { a: 1 } }\n";
const CALLS = `
id: calls-it
name: Caller
steps:
  - { id: run_it, type: workflow, workflow: good }
output: "\${{ steps.run_it.output }}"
`;
const ASKS = "name: Asks\nsteps:\n  - { id: may_i, type: approval, message: Really? }\n";

/** A server, and a command line whose state directory does not exist. */
async function open() {
  const { url, key, call, instance } = await openRest();
  const directory = temporaryDirectory();
  const env = {
    MILLRACE_URL: url,
    MILLRACE_API_KEY: key,
    MILLRACE_STATE_DIR: join(directory, "none"),
  };
  const printed: string[] = [];
  const cli = async (args: readonly string[], more: Record<string, string> = {}) => {
    const result = await runHere(args, { ...env, ...more });
    printed.push(result.out, result.err);
    return result;
  };
  const write = (folder: string, texts: Record<string, string>): string => {
    const path = join(directory, folder);
    mkdirSync(path, { recursive: true });
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(path, name), text);
    return path;
  };
  return { url, key, call, instance, directory, cli, write, printed };
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An address at which nothing listens. */
async function closedAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

const callee = (input: string, output: string) => `
name: Callee
inputs: { type: object, properties: { ${input}: { type: string } }, required: [${input}], additionalProperties: false }
steps:
  - { id: one, type: set, values: { ${output}: "\${{ inputs.${input} }}" } }
output: { ${output}: "\${{ steps.one.${output} }}" }
`;
const caller = (input: string, output: string, more = "") => `
name: Caller
steps:
  - { id: run_it, type: workflow, workflow: callee, inputs: { ${input}: text } }
  - { id: use, type: set, values: { is_long: "\${{ size(steps.run_it.output.${output}) > 3 }}" } }
${more}output: "\${{ steps.use.is_long }}"
`;

describe("commands with MILLRACE_URL", () => {
  it("create, edit, list, show and plan workflows", async () => {
    const { cli, write, key, printed } = await open();
    const files = write("files", { "good.yaml": GOOD });
    const file = join(files, "good.yaml");
    expect((await cli(["workflows", "create", "--file", file])).out).toContain("Created good as a draft");
    writeFileSync(file, GOOD.replace("one", "two"));
    expect((await cli(["workflows", "edit", "good", "--file", file])).out).toContain(
      "Saved version 2 of good",
    );
    expect((await cli(["workflows", "list"])).out).toMatch(/^ID .*\ngood +draft +2 /);
    expect((await cli(["workflows", "show", "good"])).out).toContain("id: two");
    expect((await cli(["workflows", "plan", "good"])).code).toBe(0);
    expect(JSON.parse((await cli(["projects", "list", "--json"])).out)).toMatchObject([{ id: "default" }]);

    expect(printed.join("")).not.toContain(key);
  });

  it("run workflows to their end, show runs, and describe the key", async () => {
    const { cli, call, instance, key, printed } = await open();
    await startTestExecutor(instance);
    const definition = { steps: [{ id: "two", type: "set", values: { a: 1 } }] };
    await call("POST", "/workflows", { name: "Good", definition });
    const ran = await cli(["run", "good", "--watch"]);
    expect(ran).toMatchObject({ code: 0, out: '{\n  "a": 1\n}\n' });
    expect(ran.err).toMatch(/two +succeeded[^\n]*\nrun_[\w-]+ succeeded\n$/);
    const [run] = JSON.parse((await cli(["runs", "list", "--json"])).out) as { id: string }[];
    expect((await cli(["runs", "show", run!.id])).out).toMatch(/two +succeeded/);
    expect((await cli(["keys", "show", "self"])).out).toContain("What it");
    expect(printed.join("")).not.toContain(key);
  });

  it("print the whole of an output that answers cut, and read inputs by their schema", async () => {
    const { cli, call, instance } = await open();
    await startTestExecutor(instance);
    const definition = {
      inputs: { type: "object", properties: { n: { type: "string" } } },
      steps: [{ id: "long", type: "set", values: { text: "${{ inputs.n }}" } }],
      output: "${{ steps.long.text }}",
    };
    await call("POST", "/workflows", { name: "Long", definition });
    const long = "1".repeat(150_000);
    const file = join(temporaryDirectory(), "inputs.json");
    writeFileSync(file, JSON.stringify({ n: long }));
    expect(JSON.parse((await cli(["run", "long", "--inputs-file", file])).out)).toBe(long);
    expect((await cli(["run", "long", "--input", "n=12"])).out).toBe('"12"\n');
  });

  it("run a single step, wait for approvals, and decide them", async () => {
    const { cli, call, instance, write } = await open();
    await startTestExecutor(instance);
    const step = join(write("steps", { "step.yaml": "type: set\nvalues: { a: 7 }\n" }), "step.yaml");
    expect(JSON.parse((await cli(["run-step", step])).out)).toEqual({ a: 7 });
    await call("POST", "/workflows", {
      name: "Asks",
      definition: { steps: [{ id: "may_i", type: "approval", message: "Really?" }] },
    });
    const waiting = await cli(["run", "asks"]);
    expect(waiting).toMatchObject({ code: 6, err: expect.stringContaining("Really?") });
    const [approval] = JSON.parse((await cli(["approvals", "list", "--json"])).out) as {
      id: string;
      run_id: string;
    }[];
    expect((await cli(["approvals", "show", approval!.id])).out).toContain("Really?");
    const refused = await cli([
      "approvals",
      "decide",
      approval!.id,
      "--decision",
      "approve",
      "--digest",
      "x",
    ]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("scope") });
    expect((await cli(["runs", "cancel", approval!.run_id])).out).toContain("cancelled");
  });

  it("export and apply files, with workflows that run each other", async () => {
    const { cli, write, directory } = await open();
    const files = write("files", { "a-caller.yaml": CALLS, "good.yaml": GOOD });
    const dry = await cli(["workflows", "apply", files, "--dry-run"]);
    expect(dry).toMatchObject({ code: 0, out: expect.stringContaining("2 new, 0 changed") });
    expect((await cli(["workflows", "list", "--json"])).out).toBe("[]\n");
    expect((await cli(["workflows", "apply", files, "--yes", "--reason", "first"])).out).toContain(
      "Applied.",
    );
    expect((await cli(["workflows", "apply", files, "--yes"])).out).toBe(
      "0 new, 0 changed, 2 unchanged, 0 to be archived\n",
    );

    const exported = join(directory, "exported");
    expect((await cli(["workflows", "export", exported])).out).toContain("2 written");
    expect(readFileSync(join(exported, "calls-it.yaml"), "utf8")).toContain("name: Caller");

    write("files", { "good.yaml": GOOD.replace("type: set", "type: sett") });
    const wrong = await cli(["workflows", "apply", files, "--yes"]);
    expect(wrong).toMatchObject({
      code: 1,
      err: expect.stringMatching(/good\.yaml:3:\d+: steps\[0\]\.type .*\nNothing was applied/),
    });
    write("other", { "asks.yaml": ASKS });
    const pruned = await cli(["workflows", "apply", join(directory, "other"), "--prune", "--yes"]);
    expect(pruned).toMatchObject({
      code: 0,
      out: expect.stringContaining("1 new, 0 changed, 0 unchanged, 2 to be archived"),
    });
    expect(JSON.parse((await cli(["workflows", "list", "--json"])).out)).toMatchObject([{ id: "asks" }]);
    expect(await cli(["workflows", "apply", files, "--no-bind"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("--no-bind"),
    });
  });

  it("apply and publish a change of a workflow together with those that run it", async () => {
    const { cli, write, instance } = await open();
    await startTestExecutor(instance);
    const files = write("files", { "a-caller.yaml": caller("x", "a"), "callee.yaml": callee("x", "a") });
    const apply = () => cli(["workflows", "apply", files, "--yes", "--publish"]);
    expect(await apply()).toMatchObject({ code: 0, err: "" });

    // What does not concern the changed workflow is refused as before.
    const wrong = '  - { id: wrong, type: set, values: { b: "${{ steps.none.b }}" } }\n';
    write("files", { "a-caller.yaml": caller("y", "b", wrong), "callee.yaml": callee("y", "b") });
    const refused = await apply();
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("there is no step none") });
    expect(refused.err).not.toContain("a-caller.yaml:4");

    write("files", { "a-caller.yaml": caller("y", "b") });
    expect(await apply()).toMatchObject({
      code: 0,
      out: expect.stringContaining("published: callee\npublished: a-caller\n"),
      err: expect.stringContaining("a-caller.yaml: 3 issues with the published versions"),
    });
    expect((await cli(["run", "a-caller"])).out).toBe("true\n");

    // Alone it is refused: the workflow that it runs does not change.
    write("files", { "a-caller.yaml": caller("x", "a") });
    expect(await apply()).toMatchObject({
      code: 1,
      err: expect.stringMatching(/steps\[0\]\.inputs\.x .*[^]*Nothing was applied/),
    });
  });

  it("report errors of the server like local ones", async () => {
    const { cli } = await open();
    expect(await cli(["workflows", "show", "gone"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("millrace workflows list"),
    });
    expect(await cli(["workflows", "create", "--name", " "])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^.*\n- name /),
    });
    expect(await cli(["grants", "add", "default", "database", "none"])).toMatchObject({ code: 1 });
  });

  it("say what to do about a wrong address, key or server, and never print the key", async () => {
    const { cli, key, url } = await open();
    const secret = `${key.slice(0, -1)}X`;
    const list = async (more: Record<string, string>) => {
      const { code, err } = await cli(["workflows", "list"], more);
      expect(err).not.toContain(secret);
      expect(err).not.toContain(key);
      return { code, err };
    };
    expect(await list({ MILLRACE_API_KEY: secret })).toMatchObject({
      code: 1,
      err: expect.stringContaining("MILLRACE_API_KEY"),
    });
    expect(await list({ MILLRACE_API_KEY: "" })).toMatchObject({
      code: 3,
      err: expect.stringContaining("MILLRACE_API_KEY must be set"),
    });
    expect(await list({ MILLRACE_API_KEY: `${secret}\n` })).toMatchObject({
      code: 3,
      err: expect.stringContaining("not shown"),
    });
    expect(await list({ MILLRACE_URL: "millrace" })).toMatchObject({ code: 3 });
    expect(await list({ MILLRACE_URL: await closedAddress() })).toMatchObject({
      code: 1,
      err: expect.stringContaining("nothing listens there"),
    });
    const page = await serve((_, res) => res.end("<html>"));
    expect(await list({ MILLRACE_URL: page })).toMatchObject({
      code: 1,
      err: expect.stringContaining("does not answer as Millrace"),
    });
    expect(await cli(["workflows", "edit", "x", "--config", "c.yaml"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("--config"),
    });
    const file = join(temporaryDirectory(), "key");
    writeFileSync(file, `${key}\n`);
    expect(
      await list({ MILLRACE_API_KEY: "", MILLRACE_API_KEY_FILE: file, MILLRACE_URL: url }),
    ).toMatchObject({ code: 0 });
  });

  it("send the key to no other host, and warn about plain http", async () => {
    const received: unknown[] = [];
    const other = await serve((req, res) => void (received.push(req.headers), res.end("[]")));
    const url = await serve((_, res) => res.writeHead(308, { Location: other }).end());
    const { cli } = await open();
    expect(await cli(["runs"], { MILLRACE_URL: url })).toMatchObject({
      code: 1,
      err: expect.stringContaining(`redirects to ${other}`),
    });
    expect(received).toEqual([]);
    const plain = await cli(["runs"], { MILLRACE_URL: "http://millrace.invalid" });
    expect(plain.err).toContain("travel to millrace.invalid unencrypted");
  });

  it("say when they need the state of this machine", async () => {
    const { cli } = await open();
    for (const args of [
      ["backup", "b.db"],
      ["doctor"],
      ["start"],
      ["users", "list"],
      ["keys", "list"],
      ["audit", "verify"],
    ]) {
      const { code, err } = await cli(args);
      expect([args[0], code]).toEqual([args[0], 2]);
      expect(err).toMatch(
        /works on the state of this machine, but MILLRACE_URL is set\. [A-Z].* unset MILLRACE_URL/,
      );
    }
    expect((await cli(["completion", "bash"])).code).toBe(0);
    expect((await cli(["backup", "--help"])).code).toBe(0);
  });
});
