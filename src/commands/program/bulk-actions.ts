/** `runs bulk`. */
import { type Command, Option } from "commander";
import type { BulkActionResult } from "../../../schemas/bulk-action.ts";
import type { Io } from "../io.ts";
import type { ProcessHost } from "./host.ts";
import { addFullRunFilter, configOption, integer, jsonOption, withKnownOptions } from "./options.ts";

const load = () => import("../bulk-actions.ts");
// Repeated from schemas/bulk-action.ts: --help must not wait until zod is loaded.
const MAX_CONCURRENCY = 20;
const RESULTS: readonly (BulkActionResult | "all")[] = ["retried", "cancelled", "skipped", "all"];

const NOTHING_HELP = `
If no run fits the filter, or all are skipped, there is nothing to do. With --json, the bulk action that is
printed then has the id null, and its runs.total is 0.`;

const RETRY_HELP = `
Without --status, failed runs are retried. Runs that were retried already are skipped, so the same
command twice retries nothing twice. A retry that would do something else than the preview said is skipped.
${NOTHING_HELP}

Exit codes:
  0    every run of the preview was retried, and every retry succeeded; or there was nothing to do
  1    retries failed or were cancelled, runs were skipped after the preview, the bulk action was stopped,
       or nothing was started: a run of --run does not exist, or the preview was out of date or not confirmed
  130  waiting was interrupted with Ctrl-C; executors continue with the bulk action`;

const CANCEL_HELP = `
Without --status, all runs that have not ended are cancelled.
${NOTHING_HELP}

Exit codes:
  0    every run of the preview was cancelled or had ended; or there was nothing to do
  1    the bulk action was stopped, or nothing was started: a run of --run does not exist, no run of the
       preview was left, or it was not confirmed
  130  waiting was interrupted with Ctrl-C; executors continue with the bulk action`;

export function registerBulkActions(runs: Command, io: Io, host: Pick<ProcessHost, "onStop" | "ask">): void {
  const bulk = runs.command("bulk").description("retry or cancel many runs at once");

  const retry = bulk
    .command("retry")
    .description("retry many runs, after a preview: what is reused, and which effects may happen again");
  addSharedOptions(
    addFullRunFilter(retry)
      .option("--run <id...>", "these runs, instead of a filter")
      .addOption(
        new Option(
          "--version <int>",
          "version that the retries run; needs --workflow (default: that of each run)",
        ).argParser(integer(1, 999_999_999)),
      )
      .addOption(
        new Option(
          "--concurrency <int>",
          "number of retries that may be unfinished at a time (default: 5)",
        ).argParser(integer(1, MAX_CONCURRENCY)),
      ),
    "retry",
  )
    .addHelpText("after", RETRY_HELP)
    .action(async (_, command: Command) =>
      (await load()).runBulkAction(io, host, "retry", withKnownOptions(command).optsWithGlobals()),
    );

  const cancel = bulk.command("cancel").description("cancel many runs, after a preview");
  addSharedOptions(
    addFullRunFilter(cancel).option("--run <id...>", "these runs, instead of a filter"),
    "cancel",
  )
    .addHelpText("after", CANCEL_HELP)
    .action(async (_, command: Command) =>
      (await load()).runBulkAction(io, host, "cancel", withKnownOptions(command).optsWithGlobals()),
    );

  bulk
    .command("list")
    .description("list bulk actions, newest first")
    .option("--workflow <id>", "only those whose runs are all of this workflow")
    .option("--project <id>", "only those of this project")
    .addOption(jsonOption())
    .action(async (_, command: Command) =>
      (await load()).showBulkActions(io, withKnownOptions(command).optsWithGlobals()),
    );

  bulk
    .command("show")
    .description("show how far a bulk action is, or list its runs")
    .argument("<bulk-action>", "id of the bulk action")
    .addOption(new Option("--result <result>", "list its runs with this result").choices(RESULTS))
    .addOption(jsonOption())
    .action(async (id, _, command: Command) =>
      (await load()).showBulkAction(io, id, withKnownOptions(command).optsWithGlobals()),
    );

  bulk
    .command("stop")
    .description("end a bulk action: nothing happens with the runs that come next")
    .argument("<bulk-action>", "id of the bulk action")
    .option("--running", "cancel its unfinished retries too")
    .action(async (id, _, command: Command) =>
      (await load()).stopBulkAction(io, id, withKnownOptions(command).optsWithGlobals()),
    );
}

const addSharedOptions = (command: Command, verb: string): Command =>
  command
    .option("--rate <rate>", `${verb} at most so many runs in a time, such as 60/m`)
    .option("--reason <text>", "why, kept with the bulk action")
    .option("--dry-run", "only show what would happen")
    .option("--yes", `${verb} without asking`)
    .option("--no-wait", "do not wait for the end; needs an executor, such as that of millrace serve")
    .addOption(jsonOption("print the bulk action as JSON; the preview goes to standard error"))
    .addOption(configOption());
