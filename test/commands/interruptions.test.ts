/** Interruptions on the command line: which effects are open, and how a person settles them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Interruption } from "../../schemas/interruption.ts";
import { testCli } from "../support/command-line.ts";
import { mockHttpServer, sendJson } from "../support/mock-http-server.ts";
import { runHere } from "../support/process.ts";

const pay = (url: string, onInterrupted: string) => `name: Pay
steps:
  - { id: pay, type: http, method: POST, url: "${url}/pay", timeout: 1s, on_interrupted: ${onInterrupted} }
output: { paid: "\${{ steps.pay.body.id }}" }
`;

/** The command line with a workflow whose payment gets no answer in time, and one run of it. */
async function open(onInterrupted: string) {
  const { url, host, received } = await mockHttpServer((_, response) => {
    if (received.length > 1) sendJson(response, { id: "p2" });
  });
  const world = await testCli({ pay: pay(url, onInterrupted) });
  const { stateDir } = world;
  writeFileSync(join(stateDir, "config.yaml"), `http: { allowed_hosts: ["${host}"] }\n`);
  const cli = (...args: string[]) => runHere(args, { MILLRACE_STATE_DIR: stateDir });
  const run = await cli("run", "pay");
  const list = async (...args: string[]) =>
    JSON.parse((await cli("interruptions", "list", ...args, "--json")).out) as Interruption[];
  const [interruption] = (await list()) as [Interruption];
  return { ...world, cli, run, list, interruption, received };
}

describe("millrace interruptions", () => {
  it("lists and shows one that a run waits for, and settles it", async () => {
    const { cli, run, list, interruption } = await open("ask");
    const { id, run_id } = interruption;
    expect(run).toMatchObject({
      code: 6,
      err: expect.stringContaining(
        `- step "pay" waits until a person says whether its effect happened: millrace interruptions settle ${id} --outcome <outcome>\n`,
      ),
    });
    const listed = await cli("interruptions", "list");
    expect(listed.out).toMatch(
      /^ID +RUN +WORKFLOW +STEP +ATTEMPT +REASON +INTERRUPTED \(UTC\) +STATE\nint_\S+ +run_\S+ +pay +pay +1 +timeout .* waiting\n$/,
    );
    const { out } = await cli("interruptions", "show", id);
    expect(out).toContain(`${id}  waiting\nAttempt 1 of pay of pay, run ${run_id}\n`);
    expect(out).toContain("its time was over\nIdempotency key: ");
    expect(out).toContain(`millrace interruptions settle ${id} with one of these:\n`);
    expect(out).toMatch(/--outcome not_happened +it is sent again\n/);
    expect((await cli("runs", "show", run_id)).out).toContain(`millrace interruptions settle ${id}`);

    const settled = await cli(
      "interruptions",
      "settle",
      id,
      "--outcome",
      "happened",
      "--output",
      '{"body": {"id": "p1"}}',
      "--comment",
      "In the ledger.",
    );
    expect(settled).toMatchObject({ code: 0, out: expect.stringMatching(`^Settled ${id}: happened\\. If `) });
    expect(await list()).toEqual([]);
    expect((await cli("interruptions", "list")).out).toBe("No interruption is open.\n");
    const after = await cli("interruptions", "show", id);
    expect(after.out).toMatch(/The effect happened: settled at .* by operator.*\nIn the ledger\.\n$/);
    const again = await cli("interruptions", "settle", id, "--outcome", "unknown");
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("was settled at") });
  });

  it("reads the output from a file, and shows one of a run that has ended with the run", async () => {
    const { cli, files, interruption } = await open("fail");
    const { id, run_id } = interruption;
    expect((await cli("runs", "show", run_id)).out).toContain(
      `Did the effect of "pay" in attempt 1 happen? millrace interruptions show ${id}\n`,
    );
    const file = join(files({}), "output.json");
    writeFileSync(file, '{"body": {"id": "p1"}}');
    const settled = await cli(
      "interruptions",
      "settle",
      id,
      "--outcome",
      "happened",
      "--output",
      `@${file}`,
      "--json",
    );
    expect(JSON.parse(settled.out)).toMatchObject({
      id,
      outcome: "happened",
      settled_by: "operator (command line)",
    });
    expect((await cli("runs", "show", run_id)).out).not.toContain("Did the effect");
  });

  it("refuses what is no output with exit code 2, and names the option that is wrong", async () => {
    const { cli, interruption, list } = await open("fail");
    const settle = (...args: string[]) => cli("interruptions", "settle", interruption.id, ...args);
    for (const [output, problem] of [
      ["[1]", "--output must be a JSON object"],
      ["p1", "--output must be a JSON object"],
      ["@/nowhere.json", "--output: /nowhere.json cannot be read as JSON: it does not exist."],
    ] as const)
      expect(await settle("--outcome", "happened", "--output", output)).toMatchObject({
        code: 2,
        err: expect.stringContaining(problem),
      });
    expect(await settle("--outcome", "perhaps")).toMatchObject({ code: 2 });
    expect(await settle("--outcome", "unknown", "--output", "{}")).toMatchObject({
      code: 1,
      err: expect.stringContaining("--output is only for an effect that happened"),
    });
    const unknown = await cli("interruptions", "show", "int_none");
    expect(unknown).toMatchObject({
      code: 1,
      err: expect.stringContaining("millrace interruptions list lists the open ones"),
    });
    expect(await list()).toHaveLength(1);
  });
});
