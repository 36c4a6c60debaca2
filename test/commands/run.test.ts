import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testCli } from "../support/command-line.ts";
import { startProgram } from "../support/process.ts";

const ECHO = `
name: Echo
inputs:
  type: object
  properties:
    text: { type: string }
    count: { type: number, minimum: 0 }
    list: { type: array }
    any: {}
steps:
  - id: said
    type: set
    values: { all: "\${{ inputs }}" }
output: "\${{ steps.said.all }}"
`;
const WAITS = "name: Waits\nsteps:\n  - { id: nap, type: wait, for: 1h }\n";
const EXPECTS = "name: Expects\nsteps:\n  - { id: callback, type: wait, event: {} }\n";
const ASKS = "name: Asks\nsteps:\n  - { id: may_i, type: approval, message: Really? }\n";
const BLOCKED = `
name: Blocked
inputs: { type: object, properties: { port: { type: integer, default: 1 } } }
steps:
  - { id: call, type: http, url: "http://127.0.0.1:\${{ inputs.port }}/" }
`;
const RUNS_ITSELF = "No executor is running";

describe("millrace run", () => {
  it("executes the run itself without an executor, and prints nothing but the output on standard output", async () => {
    const { cli, runs } = await testCli({ echo: ECHO });
    const inputs = ["text=7", "count=7", "list=[1]", "any=a text"].flatMap((pair) => ["--input", pair]);
    const { code, out, err } = await cli("run", "echo", ...inputs);
    expect({ code, out: JSON.parse(out) }).toEqual({
      code: 0,
      // Inputs of type string stay text; others are parsed as JSON, or stay text if they are not JSON.
      out: { text: "7", count: 7, list: [1], any: "a text" },
    });
    expect(err).toContain(RUNS_ITSELF);
    expect(await runs()).toMatchObject([{ workflow_id: "echo", status: "succeeded", trigger: "cli" }]);
  });

  it("reads inputs from a file, shows the steps with --watch, and prints the whole run with --json", async () => {
    const { cli, directory } = await testCli({ echo: ECHO });
    const file = join(directory, "inputs.json");
    writeFileSync(file, '{"text": "from the file", "count": 1}');
    const { code, out, err } = await cli(
      "run",
      "echo",
      "--inputs-file",
      file,
      "--input",
      "count=2",
      "--watch",
      "--json",
    );
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      workflow_id: "echo",
      status: "succeeded",
      output: { text: "from the file", count: 2 },
      started_by: { owner: "operator", key_name: "command line", surface: "cli" },
    });
    expect(err).toMatch(/^said +succeeded +\d+ ms$/m);
    expect(err).toMatch(/^run_\S+ succeeded$/m);
  });

  it("passes the digits of numbers that a double can't hold, from arguments and from a file", async () => {
    const { cli, directory } = await testCli({ echo: ECHO });
    const file = join(directory, "inputs.json");
    writeFileSync(file, '{"list": [9007199254740993, 0.12345678901234567890, 1.50]}');
    const pairs = ["--input", "count=900719925474099.23", "--input", 'any={"id": 9007199254740993}'];
    const { code, out } = await cli("run", "echo", "--inputs-file", file, ...pairs);
    expect({ code, out: JSON.parse(out) }).toEqual({
      code: 0,
      out: {
        text: null,
        count: "900719925474099.23",
        list: ["9007199254740993", "0.12345678901234567890", 1.5],
        any: { id: "9007199254740993" },
      },
    });
    const below = await cli("run", "echo", "--input", "count=-900719925474099.23");
    expect(below.err).toContain("must be at least 0, got -900719925474099.23");
  });

  it("starts nothing if an input is invalid, and lists all issues", async () => {
    const { cli, runs } = await testCli({ echo: ECHO });
    const { code, out, err } = await cli("run", "echo", "--input", "count=-1", "--input", "txet=a");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("inputs.count");
    expect(err).toContain("inputs.txet");
    expect(err).toContain("text");
    for (const pair of ['any={"a": 1, "a": 2}', "any=[1e4000]"]) {
      const lost = await cli("run", "echo", "--input", pair);
      expect(lost).toMatchObject({
        code: 2,
        err: expect.stringMatching(/^.*--input any: .*\. (Write|Keep)/),
      });
    }
    expect(await runs()).toEqual([]);
    expect(await cli("run", "ehco")).toMatchObject({
      code: 1,
      err: expect.stringContaining('Did you mean "echo"?'),
    });
    expect(await cli("run", "echo", "--input", "count")).toMatchObject({ code: 2 });
  });

  it("exits with 1 and says which step failed, why, and how to fix it", async () => {
    const { cli } = await testCli({ blocked: BLOCKED });
    const { code, out, err } = await cli("run", "blocked");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain('failed at step "call"');
    expect(err).toContain("http_blocked");
    expect(err).toContain("allowed_hosts");
  });

  it("exits with 6 if an approval is pending, and names it", async () => {
    const { cli } = await testCli({ asks: ASKS });
    const { code, err } = await cli("run", "asks");
    expect(code).toBe(6);
    expect(err).toMatch(
      /step "may_i" needs an approval: Really\? \(POST \/approvals\/\S+, or decide_approval\)/,
    );
  });

  it("exits with 6 if a step expects an event, and prints its URL", async () => {
    const { cli } = await testCli({ expects: EXPECTS });
    const { code, err } = await cli("run", "expects");
    expect(code).toBe(6);
    expect(err).toMatch(/step "callback" expects an event: POST of JSON to http:\/\/\S+\/events\/run_\S+/);
  });

  it("cancels a run that it executes itself on Ctrl-C", async () => {
    const { begin, runs } = await testCli({ waits: WAITS });
    const { child, ended, text } = await begin(["run", "waits", "--watch"], /nap +waiting/);
    child.kill("SIGINT");
    expect(await ended).toBe(1);
    expect(text()).toContain("was cancelled");
    expect(await runs()).toMatchObject([{ status: "cancelled" }]);
  });

  it("leaves the run to running executors, also on Ctrl-C", async () => {
    const { begin, stateDir, runs } = await testCli({ waits: WAITS });
    const server = await startProgram("serve", stateDir);
    const { child, ended, text } = await begin(["run", "waits", "--watch"], /nap +waiting/);
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(text()).not.toContain(RUNS_ITSELF);
    expect(text()).toContain("continues. Show it with");
    expect(await runs()).toMatchObject([{ status: "waiting" }]);
    expect((await server.stop()).code).toBe(0);
  });
});
