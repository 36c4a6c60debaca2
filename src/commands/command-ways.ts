/** Says in messages of operations how the same is done on the command line. */

const COMMANDS: Readonly<Record<string, string>> = {
  list_workflows: "millrace workflows list",
  get_workflow: "millrace workflows show <workflow>",
  create_workflow: "millrace workflows create",
  update_workflow: "millrace workflows edit <workflow>",
  backtest_workflow: "millrace workflows backtest <workflow>",
  validate_workflow: "millrace workflows apply --dry-run",
  run_workflow: "millrace run <workflow>",
  run_step: "millrace run-step",
  list_runs: "millrace runs list",
  get_run: "millrace runs show <run>",
  cancel_run: "millrace runs cancel <run>",
  list_projects: "millrace projects list",
  list_grants: "millrace grants list",
  list_reviews: "millrace reviews list",
  get_review: "millrace reviews show <review>",
};

/** An operation, with its route if the message names it: `get_run (GET /runs/run_8dkq2m0sfj3a)`. */
const OPERATION = new RegExp(`\\b(${Object.keys(COMMANDS).join("|")})\\b(?: \\([A-Z]+ /[^)]*\\))?`, "g");

/** The command line shows no single backtest; its page does. */
const BACKTEST = /\bbacktest_workflow with backtest_id: "[^"]*" shows its first runs; all are on/g;

const ACCEPTED = /\baccept_differences: (\["(?:[^"\\]|\\.)*"(?:,"(?:[^"\\]|\\.)*")*\])/g;

const asArgument = (word: string): string =>
  /^[\w.-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** @param message the message of an operation's error */
export const withCommands = (message: string): string =>
  message
    .replace(BACKTEST, "The runs are on")
    .replace(ACCEPTED, (_, names: string) =>
      ["--accept-difference", ...(JSON.parse(names) as string[]).map(asArgument)].join(" "),
    )
    .replace(OPERATION, (_, operation: string) => COMMANDS[operation]!);
