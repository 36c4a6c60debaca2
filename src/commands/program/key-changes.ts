/** `keys changes` and `keys revert`. */
import type { Command } from "commander";
import type { Io } from "../io.ts";
import type { ProcessHost } from "./host.ts";
import { configOption, jsonOption } from "./options.ts";

const SINCE = "a date, a time, or how long ago: 2026-11-21, 2026-11-21T08:00:00Z, 24h, 7d";
const CLIENT = "only changes by this program, as the audit log names it";
const LATER = "take its changes out also where others changed a workflow afterwards";

const load = () => import("../key-changes.ts");

/** @param argument the description of the argument that names a key */
export function registerKeyChanges(
  keys: Command,
  io: Io,
  { ask }: Pick<ProcessHost, "ask">,
  argument: string,
): void {
  keys
    .command("changes")
    .description("list all that a key did since a moment, what a revert would do, and what stays in force")
    .argument("<key>", argument)
    .requiredOption("--since <when>", SINCE)
    .option("--client <name>", CLIENT)
    .option("--include-later", LATER)
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (key, options) => (await load()).showKeyChanges(io, key, options));

  keys
    .command("revert")
    .description("revert what a key changed since a moment, workflows as new versions; asks first")
    .argument("<key>", argument)
    .requiredOption("--since <when>", SINCE)
    .option("--client <name>", CLIENT)
    .option("--workflow <id...>", "only these workflows, with their triggers")
    .option("--subscription <id...>", "only these subscriptions, and those workflows")
    .option("--rotate-triggers", "replace the URLs of triggers again that it replaced, and has seen")
    .option("--include-later", LATER)
    .option("--break-caller <id...>", "workflows that it may break, because they run a reverted one")
    .option("--dry-run", "only show what would be reverted")
    .option("--yes", "revert without asking")
    .addOption(configOption())
    .addOption(jsonOption("print the result as JSON"))
    .action(async (key, options) => (await load()).revertKey(io, { ask }, key, options));
}
