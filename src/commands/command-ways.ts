/** Says in messages of operations how the same is done on the command line. */
import type { AppError } from "../core/errors.ts";

const COMMANDS: Readonly<Record<string, string>> = {
  list_workflows: "millrace workflows list",
  get_workflow: "millrace workflows show <workflow>",
  create_workflow: "millrace workflows create",
  update_workflow: "millrace workflows edit <workflow>",
  backtest_workflow: "millrace workflows backtest <workflow>",
  publish_workflow: "millrace workflows publish <workflow>",
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
  list_interruptions: "millrace interruptions list",
};

/** An operation, with its route if the message names it: `get_run (GET /runs/run_8dkq2m0sfj3a)`. */
const OPERATION = new RegExp(`\\b(${Object.keys(COMMANDS).join("|")})\\b(?: \\([A-Z]+ /[^)]*\\))?`, "g");

/** The command line shows no single backtest; its page does. */
const BACKTEST = /\bbacktest_workflow with backtest_id: "[^"]*" shows its first runs; all are on/g;

const LIVE_BACKTEST = /\bbacktest_workflow with version: (\d+), reads: "live"/g;

const ACCEPTED = /\baccept_differences: (\["(?:[^"\\]|\\.)*"(?:,"(?:[^"\\]|\\.)*")*\])/g;

/** Routes of bulk actions and interruptions in messages, which have no operation with the same name over MCP. */
const ROUTES: readonly (readonly [RegExp, string])[] = [
  [/\bGET \/bulk-actions\/([\w-]+)\/runs\b/g, "millrace runs bulk show $1 --result all"],
  [/\bGET \/bulk-actions(?= )/g, "millrace runs bulk list"],
  [/\bPOST \/bulk-actions\/\{bulk_action_id\}\/cancel\b/g, "millrace runs bulk stop <bulk-action>"],
  [/\bGET \/interruptions(?= )/g, "millrace interruptions list"],
  [/\bPOST \/interruptions\/([\w-]+)\/settle\b/g, "millrace interruptions settle $1 --outcome <outcome>"],
];

/** Where there are too many names for a sentence. */
const ACCEPTED_BELOW = "accept_differences: the names in `errors`";

const asArgument = (word: string): string =>
  /^[\w.-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** @param message the message of an operation's error */
export const withCommands = (message: string): string =>
  ROUTES.reduce((text, [route, command]) => text.replace(route, command), message)
    .replace(BACKTEST, "The runs are on")
    .replace(LIVE_BACKTEST, "millrace workflows backtest <workflow> --version $1 --reads live")
    .replace(ACCEPTED, (_, names: string) =>
      ["--accept-difference", ...(JSON.parse(names) as string[]).map(asArgument)].join(" "),
    )
    .replace(ACCEPTED_BELOW, "--accept-difference with the names below")
    .replace(OPERATION, (_, operation: string) => COMMANDS[operation]!);

/** The message of an operation's error, with the names of differences that it leaves to `errors`, one a line. */
export function messageWithCommands({ message, details: { errors = [] } }: AppError): string {
  const names = message.includes(ACCEPTED_BELOW)
    ? errors.flatMap(({ path, allowed = [] }) => (path === "accept_differences" ? allowed : []))
    : [];
  return [withCommands(message), ...names.map((name) => `- ${name}`)].join("\n");
}

/**
 * The same where a command that can't accept differences itself was refused to publish a workflow: with the command that can.
 * @param workflow its id
 */
export const refusedPublication = (error: AppError, workflow: string): string =>
  messageWithCommands(error)
    .replace("--accept-difference", `millrace workflows publish ${workflow} --accept-difference`)
    .replaceAll("<workflow>", workflow);
