/** The export of runs: all that fit, as lines of JSON or CSV, with whole values. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RunSummary } from "../../schemas/run.ts";
import { openInstance } from "../../src/app/instance.ts";
import { describeError, type Io } from "../../src/commands/io.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { exportRuns, type RunsExportOptions } from "../../src/commands/runs-export.ts";
import { iso, SECOND, systemClock } from "../../src/core/clock.ts";
import { parseCsv } from "../../src/core/csv.ts";
import type { NewRun } from "../../src/core/model.ts";
import { PROGRAM } from "../support/built.ts";
import { testCli } from "../support/command-line.ts";
import { runHere } from "../support/process.ts";
import { newRun } from "../support/run-records.ts";

const WEEKLY =
  "name: Weekly\ninputs: { type: object, properties: { text: { type: string } } }\nsteps:\n  - { id: limit, type: assert, that: 'false', message: 'Too many, =1+1' }\n";
const START = Date.parse("2026-11-21T08:00:00Z");

/** The command line with runs, which were created a second after each other. @param runs their fields, the oldest first */
async function open(runs: readonly Partial<NewRun>[]) {
  const world = await testCli({ weekly: WEEKLY });
  const { stateDir } = world;
  const instance = await openInstance({ stateDir }, systemClock, pino({ level: "silent" }));
  onTestFinished(() => instance.close());
  await instance.write({ operation: "test", actor: OPERATOR_ACTOR, requestId: "req_1" }, async (tx) => {
    for (const [index, fields] of runs.entries())
      await tx.runs.insert(
        newRun(`run_${index}`, { createdAt: iso(START + index * SECOND), version: 1, ...fields }),
      );
  });
  const exported = async (...args: string[]): Promise<RunSummary[]> => {
    const { code, out, err } = await world.cli("runs", "export", ...args);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    return linesOf(out);
  };
  /** Runs the command with an output that somebody reads. */
  async function exportTo(outDrained: () => Promise<void>, options: Partial<RunsExportOptions> = {}) {
    let [out, err] = ["", ""];
    let writes = 0;
    let unread = 0;
    let maxUnread = 0;
    const io: Io = {
      out: (text) => {
        out += text;
        writes += 1;
        unread += 1;
        maxUnread = Math.max(maxUnread, unread);
      },
      outDrained: async () => {
        await outDrained();
        unread = 0;
      },
      err: (text) => void (err += text),
      terminal: false,
      errTerminal: false,
      env: { MILLRACE_STATE_DIR: stateDir },
      onExit: () => {},
    };
    const error = await exportRuns(io, { format: "jsonl", ...options }).catch(describeError);
    return { out, err, error, writes, maxUnread };
  }
  return { ...world, instance, exported, exportTo };
}

/** A state with 1,000 runs, and the program that exports them to a pipe. */
async function openProcess() {
  const { stateDir } = await open(many(1_000));
  return {
    start() {
      const child = spawn(process.execPath, [PROGRAM, "runs", "export"], {
        env: { ...process.env, MILLRACE_STATE_DIR: stateDir },
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      return child;
    },
  };
}

const linesOf = (text: string): RunSummary[] =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as RunSummary);

const many = (count: number): Partial<NewRun>[] =>
  Array.from({ length: count }, (_, n) => ({ inputs: { n } }));

/** Larger than what a list parses, and than a page of get_run_value, with characters of two and four bytes. */
const LARGE = "ä😀".repeat(120_000);

describe("millrace runs export", () => {
  it("writes all runs, newest first, each once and as the API returns it", async () => {
    const { exported, runs } = await open(many(450));
    const all = await exported();
    expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 450 }, (_, n) => `run_${449 - n}`));
    expect(all.slice(0, 200)).toEqual(await runs("--limit", "200"));
  });

  it("takes the filters of the list, and times and triggers", async () => {
    const { exported } = await open([{}, { trigger: "schedule" }, {}, { workflowId: null }]);
    const ids = async (...args: string[]) => (await exported(...args)).map(({ id }) => id);
    expect(await ids("--workflow", "weekly", "--trigger", "rest")).toEqual(["run_2", "run_0"]);
    expect(await ids("--since", "2026-11-21T08:00:01Z", "--until", "2026-11-21T08:00:03Z")).toEqual([
      "run_2",
      "run_1",
    ]);
    expect(await ids("--status", "failed", "succeeded")).toEqual([]);
  });

  it("writes whole values where the list shortens them", async () => {
    const truncated = { truncated: true, chars: 3, preview: "own", ref: "output" };
    const { exported, runs } = await open([
      { inputs: { text: LARGE, rows: [{ id: "a" }, { id: "b" }], truncated } },
      { inputs: { rows: [] } },
    ]);
    const values = ["--values", "inputs.text", "inputs.rows[1].id", "inputs.truncated", "inputs.none"];
    const [, listed] = (await runs(...values)) as unknown as RunSummary[];
    expect(listed!.values).toMatchObject({
      "inputs.text": { truncated: true, ref: "inputs" },
      "inputs.none": { truncated: true, ref: "inputs" },
    });
    const [second, first] = await exported(...values);
    expect(first!.values).toEqual({
      "inputs.text": LARGE,
      "inputs.rows[1].id": "b",
      "inputs.truncated": truncated,
    });
    expect(second!.values).toEqual({});
  });

  it("writes CSV with one header, errors, whole values and no formula", async () => {
    const { cli, stateDir } = await open([{ inputs: { text: LARGE, rows: [1, "a;b"] } }]);
    const failed = await runHere(["run", "weekly", "--input", "text==1+1"], { MILLRACE_STATE_DIR: stateDir });
    expect(failed).toMatchObject({ code: 1, err: expect.stringContaining("Too many") });
    const { code, out } = await cli(
      "runs",
      "export",
      "--format",
      "csv",
      "--values",
      "inputs.text",
      "inputs.rows",
    );
    expect(code).toBe(0);
    expect(out.startsWith("\uFEFFid,workflow_id,project,version,status,trigger,created_at,")).toBe(true);
    expect(out.lastIndexOf("\uFEFF")).toBe(0);
    const { rows } = parseCsv(out, { header: true, separator: "," }) as { rows: Record<string, string>[] };
    expect(rows.map((row) => [row["workflow_id"], row["project"], row["version"], row["status"]])).toEqual([
      ["weekly", "default", "1", "failed"],
      ["weekly", "default", "1", "queued"],
    ]);
    expect(rows[0]).toMatchObject({
      trigger: "cli",
      error_step: "limit",
      error_code: "assert_failed",
      error_message: expect.stringContaining("Too many"),
      "inputs.text": "'=1+1",
      "inputs.rows": "",
    });
    expect(Object.keys(rows[0]!).join(" ")).toBe(
      "id workflow_id project version status trigger created_at started_at finished_at error_step error_code error_message inputs.text inputs.rows",
    );
    expect(rows[1]).toMatchObject({
      id: "run_0",
      created_at: iso(START),
      started_at: "",
      error_code: "",
      "inputs.text": LARGE,
      "inputs.rows": '[1,"a;b"]',
    });
  });

  it("writes only the header of CSV where there is no run", async () => {
    const { cli } = await open([]);
    expect((await cli("runs", "export", "--format", "csv")).out).toBe(
      "\uFEFFid,workflow_id,project,version,status,trigger,created_at,started_at,finished_at,error_step,error_code,error_message\r\n",
    );
    expect(await cli("runs", "export")).toEqual({ code: 0, out: "", err: "" });
  });

  it("waits for the reader of its output after every run", async () => {
    const { exportTo } = await open(many(250));
    const { writes, maxUnread, error } = await exportTo(async () => {});
    expect({ writes, maxUnread, error }).toEqual({ writes: 250, maxUnread: 1, error: undefined });
  });

  it("fails with the run and the path where a value can't be read as a whole, instead of shortening it", async () => {
    const { exportTo, instance } = await open([{ inputs: { text: LARGE } }, {}]);
    const purge = () =>
      instance.store.transaction(async (trx) => {
        await trx.deleteFrom("runs").where("id", "=", "run_0").execute();
      });
    const { out, error } = await exportTo(purge, { values: ["inputs.text"] });
    expect(linesOf(out).map(({ id }) => id)).toEqual(["run_1"]);
    expect(error).toEqual({
      exitCode: 1,
      message: expect.stringMatching(
        /^The value inputs\.text of the run run_0 cannot be read as a whole, .*There is no run "run_0".* Run it again/s,
      ),
    });
  });

  it("writes a new file, and no other", async () => {
    const { cli, directory } = await open(many(3));
    const file = join(directory, "runs.jsonl");
    const { out } = await cli("runs", "export");
    expect(await cli("runs", "export", "--output", file)).toEqual({
      code: 0,
      out: `3 runs written to ${file}\n`,
      err: "",
    });
    expect(readFileSync(file, "utf8")).toBe(out);
    expect(await cli("runs", "export", "--output", file)).toMatchObject({
      code: 2,
      err: expect.stringContaining("already exists"),
    });
  });

  it("writes everything to a pipe whose buffer is smaller", async () => {
    const { start } = await openProcess();
    const child = start();
    let text = "";
    for await (const chunk of child.stdout.setEncoding("utf8")) text += chunk as string;
    expect(linesOf(text)).toHaveLength(1_000);
    expect(text.length).toBeGreaterThan(2 * 65_536);
  });

  it("ends when the program that reads it has ended", async () => {
    const { start } = await openProcess();
    const child = start();
    const exited = once(child, "exit");
    await once(child.stdout, "data");
    child.stdout.destroy();
    expect(await exited).toEqual([1, null]);
  });

  it.each([
    [["--values", "total"], 1, "--values must be a path"],
    [["--status", "faled"], 2, "Did you mean failed?"],
    [["--since", "yesterday"], 1, "--since"],
    [["--workflow", "none"], 1, 'There is no workflow "none"'],
    [["--trigger", "cron"], 2, ""],
    [["--limit", "5"], 2, ""],
  ])("names the option that is wrong: %j", async (args, code, message) => {
    const { cli } = await testCli();
    expect(await cli("runs", "export", ...args)).toMatchObject({
      code,
      out: "",
      err: expect.stringContaining(message),
    });
  });
});
