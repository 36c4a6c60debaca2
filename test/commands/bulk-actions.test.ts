/** Bulk actions on the command line: a preview, a question, the progress and a report. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { BulkAction, BulkActionRun } from "../../schemas/bulk-action.ts";
import type { ProcessHost } from "../../src/commands/program/host.ts";
import { testCli } from "../support/command-line.ts";
import { mockHttpServer, sendJson } from "../support/mock-http-server.ts";
import { runHere } from "../support/process.ts";

const pay = (url: string) => `name: Pay
inputs: { type: object, properties: { amount: { type: integer } } }
steps:
  - { id: rate, type: set, values: { amount: "\${{ inputs.amount }}" } }
  - { id: note, type: http, method: POST, url: "${url}/note", body: { amount: "\${{ steps.rate.amount }}" } }
`;
const ASKS = "name: Asks\nsteps:\n  - { id: may_i, type: approval, message: Really? }\n";

/** The command line with a workflow that posts to a bank which is down, and with runs of it that failed. */
async function open(amounts: readonly number[] = [1, 2]) {
  const bank: { isDown: boolean; onRequest?: () => void } = { isDown: true };
  const { url, host, received } = await mockHttpServer((_, response) => {
    if (bank.onRequest === undefined) return sendJson(response, {}, bank.isDown ? 422 : 200);
    // This request gets no answer.
    bank.onRequest();
  });
  const world = await testCli({ pay: pay(url), asks: ASKS });
  const { stateDir } = world;
  writeFileSync(join(stateDir, "config.yaml"), `http: { allowed_hosts: ["${host}"] }\n`);
  const cli = (args: readonly string[], replaced?: Partial<ProcessHost>) =>
    runHere(args, { MILLRACE_STATE_DIR: stateDir }, replaced);
  const fail = (amount: number) => cli(["run", "pay", "--input", `amount=${amount}`]);
  for (const amount of amounts) expect(await fail(amount)).toMatchObject({ code: 1 });
  const retry = (args: readonly string[] = [], replaced?: Partial<ProcessHost>) =>
    cli(["runs", "bulk", "retry", "--workflow", "pay", ...args], replaced);
  /** The amounts that the bank has got since the last call. */
  const sent = (): number[] =>
    received.splice(0).map(({ body }) => (JSON.parse(body) as { amount: number }).amount);
  const list = async () =>
    JSON.parse((await cli(["runs", "bulk", "list", "--json"])).out) as (BulkAction & { id: string })[];
  sent();
  return { ...world, bank, cli, fail, retry, sent, list };
}

const NOTHING = "There is nothing to do: no run fits the filter.\n";

const answering = (text: string): Partial<ProcessHost> => ({ ask: async () => text });

describe("millrace runs bulk retry", () => {
  it("shows with --dry-run which steps are reused and which effects may happen again, and starts nothing", async () => {
    const { retry, sent, list } = await open();
    const { code, out } = await retry(["--dry-run"]);
    expect(code).toBe(0);
    expect(out).toContain("pay version 1: 2 runs would be retried, with these steps\n");
    expect(out).toMatch(/^rate +2 +0$/m);
    expect(out).toMatch(/^note +0 +2 +http +2$/m);
    expect(out).toMatch(
      /note \(http\) of pay version 1 was attempted in 2 of 2 runs: its effect may happen again, first in run_\S+, run_\S+\.\n/,
    );
    expect(out).toMatch(/\n2 runs would be retried\.\nNothing was started\.\n$/);
    expect(await list()).toEqual([]);
    expect(sent()).toEqual([]);
  });

  it("starts nothing unless the person at the terminal agrees", async () => {
    const { retry, sent, list } = await open([1]);
    const withoutTerminal = await retry();
    expect(withoutTerminal).toMatchObject({ code: 2, err: expect.stringContaining("Use --yes.") });
    const refused = await retry([], answering("n"));
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("Nothing was retried.") });
    expect(await list()).toEqual([]);
    expect(sent()).toEqual([]);
  });

  it("retries each run once after the confirmation, and reports what happened", async () => {
    const { retry, sent, bank } = await open();
    bank.isDown = false;
    const questions: string[] = [];
    const { code, out, err } = await retry(["--concurrency", "1", "--reason", "The bank was down."], {
      ask: async (question) => {
        questions.push(question);
        return "y";
      },
    });
    expect({ code, out, err }).toMatchObject({ code: 0 });
    expect(questions).toEqual(["Retry them? [y/N] "]);
    expect(sent()).toEqual([1, 2]);
    expect(err).toContain("2 of 2 runs retried, 0 skipped; retries: 2 succeeded\n");
    expect(out).toMatch(
      /\nblk_[\w-]+ {2}retry {2}pay {2}finished\n {2}2 runs: 2 retried, 0 skipped, 0 pending\n {2}Retries: 2 succeeded\n {2}The bank was down\.\n$/,
    );
    const again = await retry(["--yes"]);
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("There is nothing to do") });
    expect(again.out).toMatch(/2 runs skipped \(already_retried\): run_\S+, run_\S+\n/);
    expect(sent()).toEqual([]);
  });

  it("fails when retries fail, and names the command that lists them", async () => {
    const { retry, cli, list } = await open();
    const { code, out, err } = await retry(["--yes"]);
    expect(code).toBe(1);
    expect(out).toContain("  Retries: 2 failed\n");
    const { id } = (await list())[0]!;
    expect(err).toContain(`2 retries failed. millrace runs bulk show ${id} --result retried lists the runs.`);
    const shown = await cli(["runs", "bulk", "show", id, "--result", "retried"]);
    expect(shown.out).toMatch(/^RUN +WORKFLOW +CREATED \(UTC\) +RESULT +RETRY +STATUS +REASON$/m);
    expect(shown.out.match(/^run_\S+ +pay .* retried +run_\S+ +failed$/gm)).toHaveLength(2);
    const skipped = await cli(["runs", "bulk", "show", id, "--result", "skipped"]);
    expect(skipped.out).toBe("The bulk action has no such runs.\n");
    expect((await cli(["runs", "bulk", "list"])).out).toMatch(
      /^blk_\S+ +retry +pay +finished +2 of 2 +0 +2 /m,
    );
  });

  it("starts nothing if the runs have changed since the preview, and shows the new preview on the next try", async () => {
    const { retry, fail, sent, list } = await open([1]);
    const changed = await retry([], {
      ask: async () => {
        await fail(2);
        sent();
        return "y";
      },
    });
    expect(changed).toMatchObject({
      code: 1,
      err: expect.stringContaining("have changed since the preview"),
    });
    expect(changed.out).toContain("1 run would be retried.");
    expect(sent()).toEqual([]);
    expect(await list()).toEqual([]);
    expect((await retry(["--dry-run"])).out).toContain("2 runs would be retried.");
  });

  it("prints nothing but JSON on standard output with --json", async () => {
    const { retry, bank } = await open([1]);
    const planned = JSON.parse((await retry(["--dry-run", "--json"])).out) as BulkAction;
    expect(planned).toMatchObject({ id: null, status: "preview", runs: { total: 1 } });
    bank.isDown = false;
    const { code, out, err } = await retry(["--yes", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ status: "finished", retries: { succeeded: 1 } });
    expect(err).toContain("1 run would be retried.");
  });

  it("takes named runs, another version, and a filter that stands before the command", async () => {
    const { cli, retry, runs } = await open();
    const [newest] = (await runs("--workflow", "pay")) as { id: string }[];
    const one = await cli(["runs", "bulk", "retry", "--run", newest!.id, "--dry-run", "--json"]);
    expect(JSON.parse(one.out)).toMatchObject({ runs: { total: 1 } });
    const versioned = await retry(["--version", "7", "--dry-run"]);
    expect(versioned.out).toMatch(/2 runs skipped \(not_runnable\).*\n {4}\S/);
    const before = await cli(["runs", "--workflow", "asks", "bulk", "retry", "--dry-run"]);
    expect(before).toEqual({ code: 0, out: NOTHING, err: "" });
    const older = await retry(["--until", "2020-01-01", "--dry-run"]);
    expect(older).toEqual({ code: 0, out: NOTHING, err: "" });
  });

  it.each([
    [["--run", "run_x", "--status", "failed"], 1, "--status can't be combined with run_ids"],
    [["--status", "faled"], 2, "Did you mean failed?"],
    [["--status", "running"], 1, "--status is of runs that have not ended"],
    [["--rate", "fast"], 1, "--rate must be a rate such as 5/s"],
    [["--since", "yesterday"], 1, "--since"],
  ])("names the option that is wrong: %j", async (args, code, message) => {
    const { cli } = await testCli();
    expect(await cli("runs", "bulk", "retry", ...args, "--yes")).toMatchObject({
      code,
      err: expect.stringContaining(message),
    });
  });

  it("refuses an option of the list that it does not have, wherever it stands", async () => {
    const { cli } = await testCli();
    expect(await cli("runs", "bulk", "retry", "--limit", "5", "--yes")).toMatchObject({ code: 2 });
    expect(await cli("runs", "--limit", "5", "bulk", "retry", "--yes")).toMatchObject({
      code: 2,
      err: expect.stringContaining("retry has no option '--limit'"),
    });
  });

  it("is stopped by Ctrl-C where only this command executes it, together with its retries", async () => {
    const { retry, list, bank } = await open();
    const interrupted = await retry(["--yes", "--concurrency", "1"], {
      onStop: (stop) => (bank.onRequest = stop),
    });
    expect(interrupted).toMatchObject({ code: 1, err: expect.stringMatching(/was stopped by operator/) });
    expect(await list()).toMatchObject([
      { status: "cancelled", runs: { done: 1, pending: 1 }, retries: { cancelled: 1 } },
    ]);
  });

  it("continues after Ctrl-C where an executor is running, and the command ends with 130", async () => {
    const { retry, list, begin } = await open();
    await begin(["worker"], /worker started/);
    const interrupted = await retry(["--yes", "--rate", "1/h"], { onStop: (stop) => stop() });
    const { id, status } = (await list())[0]!;
    expect(interrupted).toMatchObject({
      code: 130,
      err: expect.stringContaining(`millrace runs bulk show ${id}`),
    });
    expect(status).toBe("running");
  });
});

describe("millrace runs bulk show and stop", () => {
  it("shows a bulk action that no executor has taken yet, and stops it", async () => {
    const { retry, cli, list } = await open();
    const started = await retry(["--yes", "--no-wait"]);
    const { id } = (await list())[0]!;
    expect(started.out).toContain(`Started the bulk action ${id}: 2 runs.`);
    expect((await cli(["runs", "bulk", "show", id])).out).toContain(
      "2 runs: 0 retried, 0 skipped, 2 pending\n",
    );
    const all = await cli(["runs", "bulk", "show", id, "--result", "all", "--json"]);
    expect(JSON.parse(all.out) as BulkActionRun[]).toMatchObject([
      { position: 0, result: null },
      { position: 1, result: null },
    ]);
    const stopped = await cli(["runs", "bulk", "stop", id]);
    expect(stopped).toMatchObject({ code: 0 });
    expect(stopped.out).toMatch(/^Stopped blk_\S+: 2 runs will not be retried\. .*--running/);
    expect((await cli(["runs", "bulk", "show", id])).out).toMatch(/ {2}cancelled\n[^]*Stopped by operator\n/);
    const again = await cli(["runs", "bulk", "stop", id, "--running"]);
    expect(again).toMatchObject({
      code: 1,
      err: expect.stringContaining(`millrace runs bulk show ${id} --result all lists its runs.`),
    });
    expect(again.err).toContain("already ended");
    const none = await cli(["runs", "bulk", "show", "blk_none"]);
    expect(none).toMatchObject({
      code: 1,
      err: expect.stringContaining("millrace runs bulk list lists them"),
    });
  });

  it("lists none where there are none", async () => {
    const { cli } = await testCli();
    expect((await cli("runs", "bulk", "list")).out).toContain("There are no such bulk actions.");
  });
});

describe("millrace runs bulk cancel", () => {
  it("cancels the runs that have not ended, and no others", async () => {
    const { cli, runs } = await open([1]);
    for (let count = 0; count < 2; count += 1) await cli(["run", "asks"]);
    const cancelled = await cli(["runs", "bulk", "cancel"], answering("yes"));
    expect(cancelled).toMatchObject({ code: 0 });
    expect(cancelled.out).toContain("asks version 1: 2 runs would be cancelled\n");
    expect(cancelled.out).toMatch(
      /cancel {2}asks {2}finished\n {2}2 runs: 2 cancelled, 0 skipped, 0 pending\n$/,
    );
    const statuses = (await runs()).map(({ workflow_id: workflow, status }) => [workflow, status]);
    expect(statuses).toEqual([
      ["asks", "cancelled"],
      ["asks", "cancelled"],
      ["pay", "failed"],
    ]);
    expect(await cli(["runs", "bulk", "cancel", "--yes"])).toEqual({ code: 0, out: NOTHING, err: "" });
  });
});

describe("printBulkAction", () => {
  it("names single steps where a bulk action has no workflow", async () => {
    const { cli, directory } = await open([]);
    const file = join(directory, "step.yaml");
    writeFileSync(file, "type: assert\nthat: 'false'\nmessage: No\n");
    expect(await cli(["run-step", file])).toMatchObject({ code: 1 });
    const { out } = await cli(["runs", "bulk", "retry", "--yes"]);
    expect(out).toMatch(/\nblk_\S+ {2}retry {2}several workflows or single steps {2}finished\n/);
    expect((await cli(["runs", "bulk", "list"])).out).toMatch(
      /^blk_\S+ +retry +several workflows or single steps +finished /m,
    );
  });
});

describe.each(["retry", "cancel"])("millrace runs bulk %s without runs", (action) => {
  it("succeeds where no run fits the filter, without a question", async () => {
    const { cli } = await testCli({ asks: ASKS });
    const nothing = { code: 0, out: NOTHING, err: "" };
    expect(await cli("runs", "bulk", action, "--yes")).toEqual(nothing);
    expect(await cli("runs", "bulk", action)).toEqual(nothing);
    expect(await cli("runs", "bulk", action, "--workflow", "asks", "--yes", "--no-wait")).toEqual(nothing);
  });

  it("prints a bulk action without an id and with 0 runs where no run fits the filter, with --json", async () => {
    const { cli } = await testCli();
    const nothing = {
      id: null,
      action,
      status: "preview",
      runs: { total: 0, pending: 0, done: 0, skipped: 0 },
      skipped: [],
      plan: [],
    };
    const { code, out, err } = await cli("runs", "bulk", action, "--yes", "--json");
    expect({ code, out: JSON.parse(out), err }).toEqual({ code: 0, out: nothing, err: NOTHING });
    const preview = await cli("runs", "bulk", action, "--dry-run", "--json");
    expect({ ...preview, out: JSON.parse(preview.out) }).toEqual({ code: 0, out: nothing, err: "" });
  });

  it("fails where a run of --run, or the workflow of the filter, does not exist", async () => {
    const { cli } = await testCli();
    expect(await cli("runs", "bulk", action, "--run", "run_x", "--yes")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("1 of the run_ids are not those of runs"),
    });
    expect(await cli("runs", "bulk", action, "--workflow", "none", "--yes")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining('There is no workflow "none"'),
    });
  });

  it("has its exit codes in its help", async () => {
    const { cli } = await testCli();
    const { out } = await cli("runs", "bulk", action, "--help");
    expect(out).toMatch(/\nExit codes:\n {2}0 .*; or there was nothing to do\n {2}1 [^]*\n {2}130 /);
    expect(out).toContain("printed then has the id null, and its runs.total is 0.");
  });
});
