/** `state`. */
import { type Command, Option } from "commander";
import type { Io } from "../io.ts";
import { integer, jsonOption } from "./options.ts";

const load = () => import("../state.ts");

export function registerState(program: Command, io: Io): void {
  const state = program
    .command("state")
    .description("show, set and reset what the runs of a workflow leave for later ones");

  state
    .command("show")
    .description("show the values that the next run reads")
    .argument("<workflow>", "id of the workflow")
    .addOption(jsonOption())
    .action(async (workflow, options) => (await load()).showState(io, workflow, options));

  state
    .command("history")
    .description("list what has changed the values, newest first")
    .argument("<workflow>", "id of the workflow")
    .addOption(
      new Option("--limit <int>", "maximum number of changes").default(20).argParser(integer(1, 200)),
    )
    .addOption(jsonOption())
    .action(async (workflow, options) => (await load()).showStateHistory(io, workflow, options));

  state
    .command("set")
    .description("set keys; the others keep their values")
    .argument("<workflow>", "id of the workflow")
    .argument("<name=value...>", "a key and its value: JSON, else text")
    .requiredOption("--reason <text>", "why, kept in the history and the audit log")
    .action(async (workflow, values, options) => (await load()).setState(io, workflow, values, options));

  state
    .command("reset")
    .description("give keys their defaults again: all, if none is named")
    .argument("<workflow>", "id of the workflow")
    .argument("[key...]", "keys to reset")
    .requiredOption("--reason <text>", "why, kept in the history and the audit log")
    .action(async (workflow, keys, options) => (await load()).resetState(io, workflow, keys, options));
}
