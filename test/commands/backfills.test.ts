import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/directories.ts";
import { testCli } from "../support/command-line.ts";

const FILE = `id: nightly
name: Nightly
inputs: { type: object, properties: { day: { type: string } } }
state: { last_day: { type: string, default: none } }
steps:
  - { id: kept, type: set, values: { day: "\${{ inputs.day }}" } }
commit: { last_day: "\${{ inputs.day }}" }
schedule:
  cron: "0 3 * * *"
  timezone: Europe/Berlin
  inputs: { day: "\${{ run.scheduled_for }}" }
`;

/** The command line with a published workflow that has a schedule. */
async function open() {
  const { cli, stateDir } = await testCli();
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "nightly.yaml"), FILE);
  const applied = await cli("workflows", "apply", directory, "--yes", "--publish");
  expect(applied).toMatchObject({ code: 0 });
  return { cli, stateDir, directory };
}

const RANGE = ["--from", "2026-03-28", "--to", "2026-03-30"] as const;

describe("millrace backfill", () => {
  it("lists the times of a range with local times on --dry-run, and starts nothing", async () => {
    const { cli } = await open();
    const { code, out } = await cli("backfill", "nightly", ...RANGE, "--concurrency", "2", "--dry-run");
    expect({ code, out }).toMatchObject({ code: 0 });
    expect(out).toContain("2026-03-28T03:00:00+01:00");
    expect(out).toContain("2026-03-29T03:00:00+02:00");
    expect(out).toMatch(/3 runs of version 1 would start\. Nothing was started/);
    expect(out).toContain("state_conflict");
    expect((await cli("backfills", "list", "nightly")).out).toContain("has no backfills");
  });

  it("starts a backfill, shows how far it is, and cancels it", async () => {
    const { cli } = await open();
    const started = await cli("backfill", "nightly", ...RANGE, "--reason", "New workflow");
    expect(started.code).toBe(0);
    const id = /bf_[\w-]+/.exec(started.out)![0];
    expect((await cli("backfills", "list", "nightly")).out).toMatch(/running +0 of 3/);
    expect((await cli("backfills", "show", "nightly", id)).out).toMatch(/0 started, 0 skipped, 3 left/);
    expect((await cli("backfills", "cancel", "nightly", id)).out).toContain(
      "3 scheduled times will not start",
    );
    const again = await cli("backfills", "cancel", "nightly", id);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("already ended (cancelled)") });
  });

  it("refuses a range without times, and a workflow without a schedule", async () => {
    const { cli } = await open();
    const empty = await cli(
      "backfill",
      "nightly",
      "--from",
      "2026-03-28T04:00:00Z",
      "--to",
      "2026-03-28T05:00:00Z",
    );
    expect(empty).toMatchObject({ code: 1, err: expect.stringContaining("there is none between") });
    const none = await cli("backfill", "none", ...RANGE);
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('no workflow "none"') });
  });
});

describe("millrace state", () => {
  it("shows, sets and resets the state, with the reasons in the history", async () => {
    const { cli } = await open();
    expect((await cli("state", "show", "nightly")).out).toContain('last_day = "none"');
    const set = await cli("state", "set", "nightly", "last_day=2026-03-28", "--reason", "Starts here");
    expect(set).toMatchObject({ code: 0, out: expect.stringContaining("Revision 2") });
    await cli("state", "reset", "nightly", "--reason", "From the start");
    const { out } = await cli("state", "history", "nightly");
    expect(out).toMatch(/Revision 3 {2}reset.*\n {2}From the start\n {2}- last_day = "2026-03-28"\n/);
    expect(out).toMatch(/Revision 2 {2}set/);
    const long = await cli("state", "set", "nightly", "last_day=9007199254740993", "--reason", "An id");
    expect(long).toMatchObject({ code: 0, out: expect.stringContaining('last_day = "9007199254740993"') });
    const wrong = await cli("state", "set", "nightly", "lastday=1", "--reason", "A typo");
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("last_day") });
  });
});
