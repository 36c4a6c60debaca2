/** `interruptions`. */
import { type Command, Option } from "commander";
import { InterruptionOutcome } from "../../../schemas/interruption.ts";
import type { Io } from "../io.ts";
import { configOption, jsonOption } from "./options.ts";

const ID_ARGUMENT = "id of the interruption";
const load = () => import("../interruptions.ts");

export function registerInterruptions(program: Command, io: Io): void {
  const interruptions = program
    .command("interruptions")
    .description("list, show and settle effects of which nobody knows whether they happened");

  interruptions
    .command("list")
    .description("list interruptions, newest first")
    .addOption(new Option("--status <status>", "status").choices(["open", "settled", "all"]).default("open"))
    .option("--run <id>", "only of this run")
    .option("--workflow <id>", "only of this workflow")
    .option("--project <id>", "only of this project")
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options) => (await load()).listAll(io, options));

  interruptions
    .command("show")
    .description("show which attempt was interrupted, and how that was settled")
    .argument("<interruption>", ID_ARGUMENT)
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (id, options) => (await load()).show(io, id, options));

  interruptions
    .command("settle")
    .description("record whether the effect happened, as the operator")
    .argument("<interruption>", ID_ARGUMENT)
    .addOption(
      new Option("--outcome <outcome>", "whether the effect happened")
        .choices(InterruptionOutcome.options)
        .makeOptionMandatory(),
    )
    .option("--output <json>", "with happened: what the step would have returned, as a JSON object or @file")
    .option("--comment <text>", "how it was found out")
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (id, options) => (await load()).settle(io, id, options));
}
