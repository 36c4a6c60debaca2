/** `run`, `run-step`, `runs` and `workflows`. */
import { type Command, Option } from "commander";
import type { Io } from "../io.ts";
import { registerBulkActions } from "./bulk-actions.ts";
import type { ProcessHost } from "./host.ts";
import {
  addFullRunFilter,
  addRunFilter,
  configOption,
  integer,
  jsonOption,
  MAX_BACKTEST_RUNS,
  withKnownOptions,
} from "./options.ts";

// Repeated from schemas/workflow.ts: --help must not wait until zod is loaded.
const WORKFLOW_STATUSES = ["draft", "published", "archived"];

const BACKTEST_HELP = `
Exit codes:
  0  no run differs or fails
  1  runs differ or fail, or none could be compared, or the backtest did not finish`;

const EXPORT_HELP = `
CSV begins with a byte order mark, and a text that a spreadsheet could take for a formula gets an
apostrophe in front. Lists and objects are JSON in their cell; a value that a run lacks is empty.
jsonl has the exact values. Long messages of errors are shortened, as in all lists of runs:
millrace runs show <run> has the whole one.`;

const GROUP_HELP = `
Fields: workflow_id, version, status, trigger, error_code, failed_step, hour, day, month.
Expressions read inputs, output, state, steps.<id> and run, as in definitions:
  millrace runs group --workflow orders --by version --by output.currency --where 'output.total > 0'`;

const loadWorkflows = () => import("../workflows.ts");

export function registerRuns(
  program: Command,
  io: Io,
  { onStop, ask }: Pick<ProcessHost, "onStop" | "ask">,
): void {
  program
    .command("run")
    .description("run a workflow and print its output; progress goes to standard error")
    .argument("<workflow>", "id of the workflow")
    .option("--input <name=value...>", "an input: text if the workflow expects text, else JSON")
    .option("--inputs-file <path>", "file with a JSON object of inputs; - reads standard input")
    .option(
      "--given <json>",
      "run a trial without effects: outputs by step id, which replace the steps, such as '{\"send\": {}}'",
    )
    .addOption(
      new Option(
        "--version <int>",
        "version to run (default: the published version, else the newest)",
      ).argParser(integer(1, 999_999_999)),
    )
    .option("--watch", "show the steps while they run, and wait until the run ends")
    .addOption(jsonOption("print the whole run as JSON, not only its output"))
    .addOption(configOption())
    .action(async (workflow, { input = [], ...options }) =>
      (await import("../run.ts")).run(io, { onStop }, workflow, { input, ...options }),
    );

  program
    .command("run-step")
    .description("run a single step without a workflow and print its output")
    .argument("<file>", "YAML or JSON file with the step; - reads standard input")
    .option("--input <name=value...>", "a value that its expressions read as inputs.<name>: JSON, else text")
    .option("--inputs-file <path>", "file with a JSON object of inputs; - reads standard input")
    .option(
      "--from <name=source...>",
      "an input from the output of a run, such as rows=run_8dkq2m0sfj3a.rows",
    )
    .option("--project <id>", "project whose connections it uses (default: the default project)")
    .option("--watch", "show the step while it runs, and wait until the run ends")
    .addOption(jsonOption("print the whole run as JSON, not only its output"))
    .addOption(configOption())
    .action(async (file, { input = [], from = [], ...options }) =>
      (await import("../run-step.ts")).runSingleStep(io, { onStop }, file, { input, from, ...options }),
    );

  const runs = addListOptions(
    program
      .command("runs")
      .description("list, show, compare, count, cancel and export runs; retry or cancel many"),
  ).action(async (options) => (await import("../runs.ts")).showRuns(io, options));

  addListOptions(runs.command("list").description("list runs, newest first")).action(
    async (_, command: Command) =>
      // commander gives the options to the parent command `runs`, wherever they stand on the line.
      (await import("../runs.ts")).showRuns(io, command.optsWithGlobals()),
  );

  runs
    .command("show")
    .description("show a run with its steps")
    .argument("<run>", "id of the run")
    .addOption(jsonOption("print JSON, with outputs and attempts"))
    .action(async (run, _, command: Command) =>
      // commander gives --json to the parent command `runs`, wherever it stands on the line.
      (await import("../runs.ts")).showOneRun(io, run, command.optsWithGlobals()),
    );

  runs
    .command("compare")
    .description("show where two runs differ: inputs, definition, and each step")
    .argument("<run>", "id of the run")
    .argument("[other]", "id of the run to compare with; default: the last one before that succeeded")
    .addOption(jsonOption("print JSON"))
    .action(async (run, other, _, command: Command) =>
      (await import("../compare-runs.ts")).showComparison(io, run, other, command.optsWithGlobals()),
    );

  runs
    .command("cancel")
    .description("cancel a run and the runs that it started")
    .argument("<run>", "id of the run")
    .action(async (run) => (await import("../runs.ts")).cancelOneRun(io, run));

  addFullRunFilter(runs.command("group").description("count runs in groups, by version, day or values"))
    .option("--by <name...>", "what the runs of a group have in common: a field or an expression")
    .option("--where <expression>", "only runs for which this is true, such as 'output.total > 1000'")
    .option("--measure <expression...>", "show minimum, maximum, sum and mean of this number")
    .option("--timezone <name>", "of hour, day and month (default: UTC)")
    .addOption(
      new Option("--limit <int>", "maximum number of groups (default: 50)").argParser(integer(1, 1_000)),
    )
    .addOption(jsonOption())
    .addHelpText("after", GROUP_HELP)
    .action(async (_, command: Command) =>
      (await import("../group-runs.ts")).showGroups(io, withKnownOptions(command).optsWithGlobals()),
    );

  addFullRunFilter(
    runs.command("export").description("write all runs that fit, newest first, as lines of JSON or as CSV"),
  )
    .option("--values <path...>", "add these whole values, such as output.total; at most 10")
    .addOption(
      new Option("--format <format>", "jsonl: exact, as the API returns runs; csv: for spreadsheets")
        .choices(["jsonl", "csv"])
        .default("jsonl"),
    )
    .option("--output <file>", "output file; must not exist (default: standard output)")
    .addHelpText("after", EXPORT_HELP)
    .action(async (_, command: Command) =>
      (await import("../runs-export.ts")).exportRuns(io, withKnownOptions(command).optsWithGlobals()),
    );

  registerBulkActions(runs, io, { onStop, ask });
}

export function registerTriggers(program: Command, io: Io): void {
  const triggers = program
    .command("triggers")
    .description("show the webhooks of a workflow with their URLs, list their deliveries, deliver one again")
    .argument("<workflow>", "id of the workflow")
    .addOption(jsonOption())
    .action(async (workflow, options) =>
      (await import("../triggers.ts")).showTriggers(io, workflow, options),
    );

  triggers
    .command("deliveries")
    .description("list what the webhooks of a workflow received, newest first")
    .argument("<workflow>", "id of the workflow")
    .addOption(
      new Option("--limit <int>", "maximum number of deliveries").default(20).argParser(integer(1, 200)),
    )
    .addOption(jsonOption())
    .action(async (workflow, _, command: Command) =>
      // commander gives --json to the parent command, wherever it stands on the line.
      (await import("../triggers.ts")).showDeliveries(io, workflow, command.optsWithGlobals()),
    );

  triggers
    .command("redeliver")
    .description("deliver a delivery again, to the version that is published now")
    .argument("<workflow>", "id of the workflow")
    .argument("<delivery>", "id of the delivery")
    .action(async (workflow, delivery) => (await import("../triggers.ts")).redeliver(io, workflow, delivery));

  triggers
    .command("rotate")
    .description("replace the URL of a webhook; the old one is refused from then on")
    .argument("<workflow>", "id of the workflow")
    .argument("<trigger>", "id of the trigger in the definition")
    .action(async (workflow, trigger) => (await import("../triggers.ts")).rotate(io, workflow, trigger));
}

const addListOptions = (command: Command): Command =>
  addRunFilter(command)
    .option("--search <words>", "only runs whose id, workflow, error, inputs or output contain the words")
    .option("--where <expression>", "only runs for which this is true, such as 'output.total > 1000'")
    .option("--values <path...>", "show these values of each run, such as output.total or inputs.region")
    // Without a default here: that of `runs` would replace what `runs list` was given.
    .addOption(
      new Option("--limit <int>", "maximum number of runs (default: 20)").argParser(integer(1, 1_000)),
    )
    .addOption(jsonOption());

export function registerWorkflows(
  program: Command,
  io: Io,
  { ask, edit, onStop }: Pick<ProcessHost, "ask" | "edit" | "onStop">,
): void {
  const workflows = program
    .command("workflows")
    .description(
      "list, show, create, edit, backtest and publish workflows; export and apply them as files; plan a run",
    );

  workflows
    .command("list")
    .description("list workflows by name")
    .option("--search <words>", "only those whose id, name, description or tags contain the words")
    .option("--tag <tag>", "only with this tag")
    .addOption(new Option("--status <status>", "only with this status").choices(WORKFLOW_STATUSES))
    .option("--project <id>", "only of this project")
    .addOption(
      new Option("--limit <int>", "maximum number of workflows").default(50).argParser(integer(1, 200)),
    )
    .addOption(jsonOption())
    .action(async (options) => (await loadWorkflows()).showWorkflows(io, options));

  workflows
    .command("show")
    .description("show a workflow with its definition as YAML")
    .argument("<workflow>", "id of the workflow")
    .addOption(jsonOption())
    .action(async (workflow, options) => (await loadWorkflows()).showWorkflow(io, workflow, options));

  workflows
    .command("create")
    .description("create a workflow as a draft")
    .option("--name <name>", "its name (default: that of the file)")
    .option("--id <id>", "its id (default: that of the file, else a slug of the name)")
    .option("--description <text>", "what it does")
    .option("--file <path>", "YAML or JSON file with its definition; - reads standard input")
    .option("--project <id>", "its project (default: the default project)")
    .option("--reason <text>", "change note, kept in the history")
    .addOption(configOption())
    .action(async (options) => (await loadWorkflows()).createOne(io, options));

  workflows
    .command("edit")
    .description("open a workflow in your editor (VISUAL or EDITOR), and save it as a new version")
    .argument("<workflow>", "id of the workflow")
    .option("--file <path>", "take this file instead of opening an editor; - reads standard input")
    .option("--reason <text>", "change note, kept in the history")
    .addOption(configOption())
    .action(async (workflow, options) => (await loadWorkflows()).editOne(io, edit, workflow, options));

  workflows
    .command("plan")
    .description("say what a run would read, write and send, with rows, time and cost of past runs")
    .argument("<workflow>", "id of the workflow")
    .addOption(
      new Option(
        "--version <int>",
        "version to plan (default: the published version, else the newest)",
      ).argParser(integer(1, 999_999_999)),
    )
    .addOption(jsonOption())
    .action(async (workflow, options) =>
      (await import("../plan-workflow.ts")).showPlan(io, workflow, options),
    );

  workflows
    .command("backtest")
    .description("run past runs again with a file or a version, without effects, and compare the results")
    .argument("<workflow>", "id of the workflow")
    .addOption(
      new Option("--file <path>", "YAML or JSON file with the definition; - reads standard input").conflicts(
        "version",
      ),
    )
    .addOption(
      new Option("--version <int>", "version to test (default: the newest version)").argParser(
        integer(1, 999_999_999),
      ),
    )
    .addOption(
      new Option("--last <int>", "number of runs, the newest ones")
        .default(100)
        .argParser(integer(1, MAX_BACKTEST_RUNS)),
    )
    .addOption(
      new Option("--status <status>", "only runs that ended so (default: both)").choices([
        "succeeded",
        "failed",
      ]),
    )
    .addOption(
      new Option("--reads <mode>", "what steps that only read do if their input has changed")
        .choices(["recorded", "live"])
        .default("recorded"),
    )
    .option("--source <workflow>", "take the runs of this workflow of the same project")
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText("after", BACKTEST_HELP)
    .action(async (workflow, options) =>
      (await import("../backtest.ts")).backtest(io, { onStop }, workflow, options),
    );

  workflows
    .command("publish")
    .description("publish a version, after its examples and the backtest that it needs")
    .argument("<workflow>", "id of the workflow")
    .addOption(
      new Option("--version <int>", "version to publish (default: the newest version)").argParser(
        integer(1, 999_999_999),
      ),
    )
    .option(
      "--accept-difference <name...>",
      "what may differ in the backtest that publishing needs, such as output.note",
    )
    .option("--break-caller <id...>", "publish although this workflow, which runs it, would break")
    .addOption(jsonOption())
    .addOption(configOption())
    .action(async (workflow, options) => (await import("../publish.ts")).publishOne(io, workflow, options));

  workflows
    .command("export")
    .description("write all workflows that are not archived to a directory, one YAML file each")
    .argument("<dir>", "output directory; it is created if it does not exist")
    .option("--project <id>", "only workflows of this project (default: of all projects)")
    .action(async (directory, options) =>
      (await import("../workflow-files.ts")).exportWorkflows(io, directory, options),
    );

  workflows
    .command("apply")
    .description("check the files of a directory, show what would change, and apply it")
    .argument("<dir>", "directory with the workflow files")
    .option("--yes", "apply without asking")
    .option("--dry-run", "only show what would change")
    .option("--prune", "archive workflows that have no file")
    .option("--publish", "publish the new and changed workflows")
    .option("--no-bind", "check only the definitions, without databases, models and MCP servers")
    .option("--reason <text>", "change note, kept in the history")
    .option(
      "--project <id>",
      "project of the workflows (default: their own; for new ones the default project)",
    )
    .addOption(configOption())
    .action(async (directory, options) =>
      (await import("../apply.ts")).applyWorkflows(io, { ask }, directory, options),
    );
}
