/** Says in messages of operations how the same is done on the command line. */

const COMMANDS: Readonly<Record<string, string>> = {
  list_workflows: "millrace workflows list",
  get_workflow: "millrace workflows show <workflow>",
  create_workflow: "millrace workflows create",
  update_workflow: "millrace workflows edit <workflow>",
  validate_workflow: "millrace workflows apply --dry-run",
  run_workflow: "millrace run <workflow>",
  run_step: "millrace run-step",
  list_runs: "millrace runs list",
  get_run: "millrace runs show <run>",
  cancel_run: "millrace runs cancel <run>",
  list_projects: "millrace projects list",
  list_grants: "millrace grants list <project>",
  list_approvals: "millrace approvals list",
  get_approval: "millrace approvals show <approval>",
  decide_approval: "millrace approvals decide <approval>",
  list_backfills: "millrace backfills list <workflow>",
  get_backfill: "millrace backfills show <workflow> <backfill>",
  get_triggers: "millrace triggers <workflow>",
  list_trigger_deliveries: "millrace triggers deliveries <workflow>",
  list_subscriptions: "millrace subscriptions list",
  list_deliveries: "millrace subscriptions deliveries",
  get_workflow_state: "millrace state show <workflow>",
  list_api_keys: "millrace keys list",
  list_users: "millrace users list",
  list_reviews: "millrace reviews list",
  get_review: "millrace reviews show <review>",
};

/** An operation, with its route if the message names it: `get_run (GET /runs/run_8dkq2m0sfj3a)`. */
const OPERATION = new RegExp(`\\b(${Object.keys(COMMANDS).join("|")})\\b(?: \\([A-Z]+ /[^)]*\\))?`, "g");

/** @param message the message of an operation's error */
export const withCommands = (message: string): string =>
  message.replace(OPERATION, (_, operation: string) => COMMANDS[operation]!);
