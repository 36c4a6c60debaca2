/** `backfill` and `backfills`. */
import { type Command, Option } from "commander";
import type { Io } from "../io.ts";
import { configOption, integer, jsonOption } from "./options.ts";

const load = () => import("../backfills.ts");
// Repeated from schemas/backfill.ts: --help must not wait until zod is loaded.
const EXISTING = ["skip", "repeat_failed", "repeat"];
const MAX_CONCURRENCY = 20;

export function registerBackfills(program: Command, io: Io): void {
  program
    .command("backfill")
    .description("start the runs of a workflow's schedule for a past range")
    .argument("<workflow>", "id of the workflow; it must be published with a schedule")
    .requiredOption(
      "--from <time>",
      "first scheduled time: 2026-10-01 in the schedule's time zone, or a timestamp",
    )
    .requiredOption("--to <time>", "last scheduled time, included: a date or a timestamp")
    .addOption(
      new Option("--concurrency <int>", "number of its runs that may be unfinished at a time")
        .default(1)
        .argParser(integer(1, MAX_CONCURRENCY)),
    )
    .addOption(
      new Option("--existing <action>", "what happens with times that have a run")
        .choices(EXISTING)
        .default("skip"),
    )
    .option("--reason <text>", "why, kept with the backfill")
    .option("--dry-run", "only list the scheduled times, and what would start")
    .addOption(jsonOption())
    .addOption(configOption())
    .action(async (workflow, options) => (await load()).backfill(io, workflow, options));

  const backfills = program.command("backfills").description("list, show and cancel backfills of a workflow");

  backfills
    .command("list")
    .description("list the backfills of a workflow, newest first")
    .argument("<workflow>", "id of the workflow")
    .addOption(jsonOption())
    .action(async (workflow, options) => (await load()).showBackfills(io, workflow, options));

  backfills
    .command("show")
    .description("show how far a backfill is")
    .argument("<workflow>", "id of the workflow")
    .argument("<backfill>", "id of the backfill")
    .addOption(jsonOption())
    .action(async (workflow, id, options) => (await load()).showBackfill(io, workflow, id, options));

  backfills
    .command("cancel")
    .description("start no more runs of a backfill")
    .argument("<workflow>", "id of the workflow")
    .argument("<backfill>", "id of the backfill")
    .option("--running", "cancel its unfinished runs too")
    .action(async (workflow, id, options) => (await load()).cancelOneBackfill(io, workflow, id, options));
}
