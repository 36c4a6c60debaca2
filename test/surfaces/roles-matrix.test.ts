import { describe, expect, it } from "vitest";
import { type AnyTool, parseRoute } from "../../src/core/tool.ts";
import { sessionEndpoints } from "../../src/surfaces/session/endpoints.ts";
import { catalogue } from "../../tools/index.ts";
import { type ApiResponse, apiClient } from "../support/http.ts";
import {
  type Caller,
  dumpState,
  openRolesMatrix,
  CALLER_SPECS,
  type CallerSpec,
  type ResourceKind,
  type RolesMatrix,
} from "../support/roles-matrix.ts";

/** What a role may do according to the documentation. It is repeated here, so that a mistake in the program shows. */
const MAY = {
  viewer: ["read"],
  editor: ["read", "write", "publish", "run", "approve"],
  admin: ["read", "write", "publish", "run", "approve", "admin"],
  operator: ["read", "write", "publish", "run", "approve", "admin"],
} as const;

type Ability = (typeof MAY)["admin"][number];
/** `ok`, or the code of the problem. */
type Outcome = string;

interface Row {
  needs: Ability;
  /** For signed-in users, never for a key. */
  person?: true;
  /** The kind of its resource, with the outcomes for the caller's own, another user's and a missing one. */
  of?: ResourceKind;
  own?: Outcome | ((asker: CallerSpec) => Outcome);
  others?: Outcome | ((asker: CallerSpec) => Outcome);
  none?: Outcome;
  /** The outcome of an operation without a resource. */
  outcome?: Outcome | ((asker: CallerSpec) => Outcome);
  send?: (number: number) => Record<string, unknown>;
  query?: string;
  /** The route's parameters after the first. */
  more?: readonly string[];
  changes?: true;
}

const reads = { needs: "read" } as const;
const changes = { changes: true } as const;
const ofAll = { own: "ok", others: "ok" } as const;
const workflow = { of: "workflow", ...ofAll, none: "workflow_not_found" } as const;
const run = { of: "run", ...ofAll, none: "run_not_found" } as const;
const writesWorkflow = { needs: "write", ...workflow, ...changes } as const;
/** Some operations need the scope publish too, where the workflow is published. */
const mayPublish = ({ role, scopes }: CallerSpec): boolean =>
  MAY[role].some((ability) => ability === "publish") && scopes?.includes("publish") !== false;
const whereLive = (asker: CallerSpec): Outcome => (mayPublish(asker) ? "ok" : "missing_scope");
const live = { own: whereLive, others: whereLive } as const;
/** A definition that is not saved needs the scope write too. */
const whereWritten =
  (outcome: Outcome) =>
  ({ role, scopes }: CallerSpec): Outcome =>
    MAY[role].some((ability) => ability === "write") && scopes?.includes("write") !== false
      ? outcome
      : "missing_scope";
const publishes = { needs: "publish", ...workflow, ...changes } as const;
const noDelivery = {
  own: "trigger_delivery_not_found",
  others: "trigger_delivery_not_found",
  more: ["trd_none"],
} as const;
const subscription = {
  needs: "admin",
  of: "subscription",
  ...ofAll,
  none: "subscription_not_found",
} as const;
const delivery = { needs: "admin", of: "delivery", ...ofAll, none: "delivery_not_found" } as const;
const person = { person: true } as const;
const administers = { needs: "admin", ...person } as const;

/** Roles in the default project are those of the accounts. */
const defaultMembers = {
  of: "project",
  own: "invalid_input",
  others: "invalid_input",
  none: "project_not_found",
} as const;

/** The range of a backfill, as the query says it. */
const YESTERDAY = "from=2026-11-20&to=2026-11-20";
/** Only callers who may do it learn that there is no such backfill. */
const noBackfill = {
  ...workflow,
  own: "backfill_not_found",
  others: "backfill_not_found",
  more: ["bf_none"],
} as const;

/** The workflow has no run, so there is nothing to compare with. */
const noRuns = { own: "run_not_found", others: "run_not_found" } as const;
const noBacktest = {
  ...workflow,
  own: "backtest_not_found",
  others: "backtest_not_found",
  more: ["bt_none"],
} as const;

const interruption = { of: "interruption", ...ofAll, none: "interruption_not_found" } as const;
const bulkAction = { of: "bulk action", ...ofAll, none: "bulk_action_not_found" } as const;

/** Every operation: what it requires, and the outcomes by owner of the resource. */
const OPERATIONS: Readonly<Record<string, Row>> = {
  list_workflows: reads,
  get_workflow: { ...reads, ...workflow },
  plan_workflow: { ...reads, ...workflow },
  list_workflow_versions: { ...reads, ...workflow },
  get_workflow_version: { ...reads, ...workflow, more: ["1"] },
  create_workflow: { needs: "write", ...changes, send: () => ({ name: "Matrix" }) },
  update_workflow: {
    ...writesWorkflow,
    send: (number) => ({
      definition: { steps: [{ id: "a", type: "set", values: { number } }] },
    }),
  },
  "update_workflow of what is live": {
    ...writesWorkflow,
    ...live,
    send: (number) => ({ description: `Number ${number}` }),
  },
  validate_workflow: { needs: "write", send: () => ({ definition: { steps: [] } }) },
  archive_workflow: { ...writesWorkflow, ...live },
  // It is not archived, so nothing is restored.
  restore_workflow: { ...writesWorkflow, send: () => ({}) },
  publish_workflow: { ...publishes, send: () => ({}) },
  unpublish_workflow: { ...publishes, send: () => ({}) },
  get_exposure: { ...reads, ...workflow },
  allow_exposure: {
    ...workflow,
    needs: "admin",
    own: "exposure_not_requested",
    others: "exposure_not_requested",
    send: () => ({ digest: "unknown" }),
  },
  withdraw_exposure: { ...workflow, needs: "admin", send: () => ({}) },
  get_offer: { ...reads, ...workflow },
  offer_workflow: { ...workflow, needs: "admin", ...changes, send: () => ({ projects: ["*"] }) },
  list_offered_workflows: reads,
  get_workflow_state: { ...reads, ...workflow },
  set_workflow_state: { ...writesWorkflow, send: () => ({ values: {} }) },
  list_state_changes: { ...reads, ...workflow },
  reset_workflow_state: { ...writesWorkflow, send: () => ({ reason: "From the start" }) },
  get_schedule: { ...reads, ...workflow },
  list_schedules: reads,
  pause_schedule: { ...publishes, send: () => ({}) },
  resume_schedule: { ...publishes, send: () => ({}) },
  preview_backfill: { ...reads, ...workflow, query: YESTERDAY },
  list_backfills: { ...reads, ...workflow },
  start_backfill: {
    ...workflow,
    needs: "run",
    ...changes,
    send: () => Object.fromEntries(new URLSearchParams(YESTERDAY)),
  },
  get_backfill: { ...reads, ...noBackfill },
  cancel_backfill: { ...noBackfill, needs: "run", send: () => ({}) },
  backtest_workflow: { ...workflow, ...noRuns, needs: "run", send: () => ({}) },
  "backtest_workflow of runs that have ended": {
    ...workflow,
    of: "workflow with a run",
    needs: "run",
    ...changes,
    send: () => ({}),
  },
  "backtest_workflow with a draft": {
    ...workflow,
    own: whereWritten("run_not_found"),
    others: whereWritten("run_not_found"),
    needs: "run",
    send: () => ({ definition: { steps: [{ id: "a", type: "set", values: { number: 1 } }] } }),
  },
  list_backtests: { ...reads, ...workflow },
  get_backtest: { ...reads, ...noBacktest },
  list_backtest_runs: { ...reads, ...noBacktest },
  cancel_backtest: { ...noBacktest, needs: "run", send: () => ({}) },
  // No run succeeds: there is no executor.
  start_bulk_action: {
    needs: "run",
    outcome: "run_not_found",
    send: () => ({ action: "retry", status: ["succeeded"] }),
  },
  list_bulk_actions: reads,
  get_bulk_action: { ...reads, ...bulkAction },
  list_bulk_action_runs: { ...reads, ...bulkAction },
  cancel_bulk_action: { ...bulkAction, needs: "run", ...changes, send: () => ({}) },
  list_interruptions: reads,
  get_interruption: { ...reads, ...interruption },
  settle_interruption: {
    ...interruption,
    needs: "approve",
    ...changes,
    send: () => ({ outcome: "happened", output: { value: "paid" } }),
  },
  get_triggers: { ...reads, ...workflow },
  rotate_trigger: { ...publishes, more: ["hook"], send: () => ({}) },
  list_trigger_deliveries: { ...reads, ...workflow },
  get_trigger_delivery: { ...reads, ...workflow, ...noDelivery },
  redeliver_trigger_delivery: { needs: "publish", ...workflow, ...noDelivery, send: () => ({}) },
  run_workflow: { ...workflow, needs: "run", ...changes, send: () => ({}) },
  // It runs a step that is not saved, so it needs write too.
  run_step: {
    needs: "run",
    ...changes,
    outcome: ({ role, scopes }) =>
      MAY[role].some((ability) => ability === "write") && scopes?.includes("write") !== false
        ? "ok"
        : "missing_scope",
    send: () => ({ step: { type: "set", values: { x: 1 } } }),
  },
  query_database: {
    needs: "write",
    ...changes,
    of: "database",
    ...ofAll,
    none: "database_not_found",
    send: () => ({ sql: "SELECT region FROM orders", wait: 0 }),
  },
  list_workflow_runs: { ...reads, ...workflow },
  list_runs: reads,
  group_runs: reads,
  get_run: { ...reads, ...run },
  get_run_definition: { ...reads, ...run },
  // No run of the matrix has an earlier one to be compared with, which only callers who may read runs learn.
  compare_runs: { ...reads, ...run, own: "invalid_input", others: "invalid_input" },
  get_run_value: { ...reads, ...run, more: ["inputs"] },
  run_events: { ...reads, ...run },
  retry_run: { ...run, needs: "run", ...changes, send: () => ({}) },
  // The run has ended: only callers who may cancel runs learn that.
  cancel_run: { ...run, own: "run_finished", others: "run_finished", needs: "run", send: () => ({}) },
  list_approvals: reads,
  get_approval: { ...reads, of: "approval", ...ofAll, none: "approval_not_found" },
  decide_approval: {
    needs: "approve",
    of: "approval",
    own: "approval_not_yours",
    others: "ok",
    none: "approval_not_found",
    ...changes,
    send: () => ({ decision: "approve" }),
  },
  // It is assigned to nobody.
  delegate_approval: {
    needs: "approve",
    of: "approval",
    ...ofAll,
    own: "approval_not_yours",
    others: "approval_not_yours",
    none: "approval_not_found",
    ...changes,
    send: () => ({ to: "ben@example.com" }),
  },
  list_reviews: reads,
  get_review: { ...reads, of: "review", ...ofAll, none: "review_not_found" },
  decide_review: {
    needs: "publish",
    ...person,
    of: "review",
    own: "review_not_yours",
    others: "ok",
    none: "review_not_found",
    ...changes,
    send: () => ({ decision: "reject", comment: "No" }),
  },
  withdraw_review: {
    needs: "publish",
    of: "review",
    own: "ok",
    others: "review_not_yours",
    none: "review_not_found",
    ...changes,
    send: () => ({}),
  },
  describe_environment: reads,
  describe_database: { ...reads, of: "database", ...ofAll, none: "database_not_found" },
  create_api_key: { ...reads, ...person, ...changes, send: () => ({ name: "matrix" }) },
  list_api_keys: { ...reads, ...person },
  describe_key: {
    ...reads,
    of: "api key",
    own: ({ credential }) => (credential === "key" ? "api_key_not_found" : "ok"),
    others: ({ role, credential }) =>
      role === "admin" && credential === "session" ? "ok" : "api_key_not_found",
    none: "api_key_not_found",
  },
  "list_api_keys of everybody": {
    ...reads,
    ...person,
    query: "everyone=true",
    outcome: ({ role }) => (role === "admin" ? "ok" : "missing_scope"),
  },
  revoke_api_key: {
    ...reads,
    ...person,
    of: "api key",
    own: "ok",
    others: ({ role }) => (role === "admin" ? "ok" : "api_key_not_found"),
    none: "api_key_not_found",
    ...changes,
    send: () => ({}),
  },
  rotate_api_key: {
    ...reads,
    ...person,
    of: "api key",
    own: "ok",
    // Not even by an admin: with the value the admin could act as another user.
    others: "api_key_not_found",
    none: "api_key_not_found",
    ...changes,
    send: () => ({}),
  },
  get_key_changes: {
    ...reads,
    ...person,
    of: "api key",
    own: "ok",
    others: ({ role }) => (role === "admin" ? "ok" : "api_key_not_found"),
    none: "api_key_not_found",
    query: "since=2026-11-21",
  },
  revert_key_changes: {
    needs: "publish",
    ...person,
    of: "api key",
    own: "ok",
    others: ({ role }) => (role === "admin" ? "ok" : "api_key_not_found"),
    none: "api_key_not_found",
    ...changes,
    send: () => ({ since: "2026-11-21" }),
  },
  list_sessions: { ...reads, ...person },
  end_session: {
    ...reads,
    ...person,
    of: "session",
    own: "ok",
    others: "session_not_found",
    none: "session_not_found",
    ...changes,
    send: () => ({}),
  },
  get_absence: { ...reads, ...person },
  set_absence: {
    ...reads,
    ...person,
    outcome: () => "invalid_input",
    send: () => ({ until: "2026-11-25T08:00:00Z", substitute: "nobody@example.com" }),
  },
  end_absence: { ...reads, ...person, ...changes },
  end_other_sessions: { ...reads, ...person, ...changes, send: () => ({}) },
  list_users: administers,
  invite_user: {
    ...administers,
    ...changes,
    send: (number) => ({ email: `matrix-${number}@example.com`, role: "admin" }),
  },
  renew_invitation: {
    ...administers,
    of: "invited user",
    own: "user_not_invited",
    others: "ok",
    none: "user_not_found",
    ...changes,
    send: () => ({}),
  },
  reset_user_password: {
    ...administers,
    of: "user",
    ...ofAll,
    none: "user_not_found",
    ...changes,
    send: () => ({}),
  },
  update_user: {
    ...administers,
    of: "user",
    ...ofAll,
    none: "user_not_found",
    ...changes,
    send: () => ({ role: "admin", status: "active" }),
  },
  list_audit_log: { needs: "admin" },
  export_audit_log: { needs: "admin" },
  move_workflow: { ...workflow, needs: "admin", ...changes, send: () => ({ project: "default" }) },
  get_overdue_workflows: reads,
  list_subscriptions: { needs: "admin" },
  list_deliveries: { needs: "admin" },
  create_subscription: {
    needs: "admin",
    ...changes,
    send: () => ({ name: "Alerts", url: "https://example.com/hook", events: ["run.failed"] }),
  },
  get_subscription: subscription,
  update_subscription: { ...subscription, ...changes, send: (number) => ({ name: `Number ${number}` }) },
  delete_subscription: { ...subscription, ...changes },
  rotate_subscription_secret: { ...subscription, ...changes, send: () => ({}) },
  test_subscription: { ...subscription, ...changes, send: () => ({}) },
  get_delivery: delivery,
  redeliver: { ...delivery, ...changes, send: () => ({}) },
  list_projects: reads,
  get_project: { ...reads, of: "project", ...ofAll, none: "project_not_found" },
  update_project: {
    needs: "admin",
    of: "project",
    ...ofAll,
    none: "project_not_found",
    ...changes,
    send: (number) => ({ description: `Number ${number}` }),
  },
  delete_project: {
    needs: "admin",
    of: "project",
    own: "project_not_empty",
    others: "project_not_empty",
    none: "project_not_found",
  },
  list_grants: { ...reads, of: "project", ...ofAll, none: "project_not_found" },
  add_grant: {
    needs: "admin",
    of: "project",
    ...ofAll,
    none: "project_not_found",
    ...changes,
    more: ["database", "shop"],
    send: () => ({ access: "read-only" }),
  },
  remove_grant: {
    needs: "admin",
    of: "project",
    own: "grant_not_found",
    others: "grant_not_found",
    none: "project_not_found",
    more: ["model", "matrix"],
  },
  list_project_members: { ...administers, ...defaultMembers },
  set_project_member: {
    ...administers,
    ...defaultMembers,
    more: ["matrix@example.com"],
    send: () => ({ role: "admin" }),
  },
  remove_project_member: { ...administers, ...defaultMembers, more: ["matrix@example.com"] },
  // The last one: before it there is one project only.
  create_project: {
    needs: "admin",
    ...changes,
    send: (number) => ({ name: `Matrix ${number}` }),
  },
};

const EVENTS = { name: "run_events", route: "GET /runs/:run_id/events" } as const;
const routeNamed = (name: string): Pick<AnyTool, "name" | "route"> =>
  [...catalogue, EVENTS].find((tool) => tool.name === name.split(" ")[0])!;

type Whose = "own" | "others" | "none" | "-";
const idsOf = (row: Row): Whose[] => (row.of === undefined ? ["-"] : ["own", "others", "none"]);

/** The expected outcome according to the table. */
function expected(row: Row, asker: CallerSpec, whose: Whose): Outcome {
  if (asker.credential === "nothing" || asker.condition !== "alive") return "unauthorized";
  if (row.person && asker.credential === "key") return "person_needed";
  const may = MAY[asker.role].some((ability) => ability === row.needs);
  const lets = asker.scopes === undefined || asker.scopes.includes(row.needs);
  if (!may || !lets) return "missing_scope";
  const outcome = (whose === "-" ? row.outcome : row[whose]) ?? "ok";
  return typeof outcome === "string" ? outcome : outcome(asker);
}

const outcomeOf = ({ status, body }: ApiResponse<{ code?: string }>): Outcome =>
  status < 300 ? "ok" : (body.code ?? `${status}`);

/** The content of a refusal without the request id and the requested id. */
const refusalText = ({ status, body }: ApiResponse, id: string): string =>
  `${status} ${JSON.stringify({ ...(body as object), request_id: "" }).replaceAll(id, "(the id)")}`;

let requests = 0;
/** Sends each request from its own address, so that no limit of attempts applies. */
const ask = (
  { url }: RolesMatrix,
  asker: Pick<Caller, "headers">,
  method: string,
  path: string,
  body?: unknown,
) => {
  requests += 1;
  const address = `10.${requests >> 16}.${(requests >> 8) & 255}.${requests & 255}`;
  return apiClient(url)(method, path, body, { ...asker.headers, "X-Forwarded-For": address });
};

function askFor(world: RolesMatrix, name: string, row: Row, asker: Caller, id: string): Promise<ApiResponse> {
  const { method, path, parameters } = parseRoute(routeNamed(name));
  const values = row.of === undefined ? [] : [id, ...(row.more ?? [])];
  let target: string = path;
  for (const [index, parameter] of parameters.entries())
    target = target.replace(`:${parameter}`, values[index]!);
  return ask(
    world,
    asker,
    method,
    row.query === undefined ? target : `${target}?${row.query}`,
    row.send?.(requests),
  );
}

/** Requests every cell of a row: refused requests concurrently, changes one after the other. */
async function play(world: RolesMatrix, name: string, row: Row, askers: readonly Caller[], things: Things) {
  const [found, wanted]: Record<string, Outcome>[] = [{}, {}];
  const tellsMore: string[] = [];
  const cells = askers.flatMap((asker) => idsOf(row).map((whose) => ({ asker, whose })));
  const refused = cells.filter(({ asker, whose }) => !row.changes || expected(row, asker, whose) !== "ok");
  const refusals = new Map<Caller, Map<Whose, string>>(askers.map((asker) => [asker, new Map()]));
  const request = async (asker: Caller, whose: Whose, id: string): Promise<void> => {
    const answer = await askFor(world, name, row, asker, id);
    const cell = `${name}, ${whose}: ${asker.label}`;
    found![cell] = outcomeOf(answer as ApiResponse<{ code?: string }>);
    wanted![cell] = expected(row, asker, whose);
    if (answer.status >= 400) refusals.get(asker)!.set(whose, refusalText(answer, id));
  };
  const ids = new Map(
    await Promise.all(
      refused.map(async (cell) => [cell, await things.shared(row.of, cell.asker, cell.whose)] as const),
    ),
  );
  const before = await dumpState(world.instance);
  await Promise.all(refused.map((cell) => request(cell.asker, cell.whose, ids.get(cell)!)));
  const unchanged = (await dumpState(world.instance)) === before;
  for (const [asker, answers] of refusals) {
    // A refused caller can't tell whether a resource exists; an allowed caller can't tell another user's from a missing one.
    const [mine, others, nothing] = [answers.get("own"), answers.get("others"), answers.get("none")];
    const refusal = ["unauthorized", "person_needed", "missing_scope"].includes(expected(row, asker, "none"));
    const asNone = expected(row, asker, "others") === expected(row, asker, "none");
    if ((refusal && mine !== nothing) || (asNone && others !== nothing)) tellsMore.push(asker.label);
  }
  // Each change has its own caller and its own resource, so that the cells do not affect each other.
  for (const { asker, whose } of cells.filter((cell) => !refused.includes(cell))) {
    const fresh = await world.asker(asker, true);
    refusals.set(fresh, new Map());
    await request(fresh, whose, await things.fresh(row.of, fresh, whose));
  }
  return { found, wanted, unchanged, tellsMore };
}

type Things = Awaited<ReturnType<typeof openThings>>;

const none = (thing: ResourceKind): string =>
  ["workflow", "workflow with a run", "database", "project"].includes(thing) ? "none-such" : "none_such";

/** The resources that are requested: the caller's, another user's, and missing ones. */
async function openThings(world: RolesMatrix, askers: readonly Caller[]) {
  const somebody = await world.newUser("editor", "somebody");
  const starters = Map.groupBy(askers, ({ owner }) => owner.lineage);
  const decisions = 24;
  const approvals = await world.approvals([
    ...[...starters.values()].map(([first]) => first!.owner),
    ...Array.from({ length: decisions }, () => somebody),
  ]);
  const waiting = approvals.get(somebody.lineage)!;
  const known = new Map<string, Promise<string>>();
  const ownerOf = (asker: Caller, whose: Whose) => (whose === "own" ? asker.owner : somebody);
  const make = async (thing: ResourceKind, asker: Caller, whose: Whose): Promise<string> => {
    if (thing === "approval") {
      const own = approvals.get(asker.owner.lineage)!;
      return whose === "own" ? own[0]! : waiting.pop()!;
    }
    // A caller's own account is never an invited one.
    if (thing === "invited user" && whose === "own") return world.makers.user(asker.owner);
    return world.makers[thing](ownerOf(asker, whose));
  };
  return {
    async fresh(thing: ResourceKind | undefined, asker: Caller, whose: Whose): Promise<string> {
      if (thing === undefined) return "";
      return whose === "none" ? none(thing) : make(thing, asker, whose);
    },
    async shared(thing: ResourceKind | undefined, asker: Caller, whose: Whose): Promise<string> {
      if (thing === undefined) return "";
      if (whose === "none") return none(thing);
      const name = `${thing} of ${ownerOf(asker, whose).lineage}`;
      if (!known.has(name)) known.set(name, make(thing, asker, whose));
      return known.get(name)!;
    },
  };
}

async function open() {
  const world = await openRolesMatrix();
  const askers: Caller[] = [];
  for (const spec of CALLER_SPECS) askers.push(await world.asker(spec, false));
  return { world, askers };
}

interface EndpointRow {
  /** Whether it is for signed-in users only; it ignores keys. */
  signedIn?: true;
  /** The outcome for an allowed caller; `ok` by default. */
  outcome?: Outcome;
  /** Whether this request changes something. */
  changes?: true;
  send?: (world: RolesMatrix) => object | Promise<object>;
}

/** A new address each time, because attempts are limited per account. */
const nobodysAddress = (): string => `nobody-${requests}@example.com`;
const NEW_PASSWORD = "a quiet river at night";
const withLink = (kind: "invitation" | "verification") => async (world: RolesMatrix) => ({
  token: await world.newLinkFor(kind),
  ...(kind === "invitation" && { password: NEW_PASSWORD }),
});
const INVALID_LINK = { token: "x".repeat(32) };

/** Every endpoint of signing in: a link works for anyone who has it, an account only for its signed-in user. */
const ENDPOINTS: Readonly<Record<string, Readonly<Record<string, EndpointRow>>>> = {
  get_session: { "": { signedIn: true } },
  check_mcp_url: { "": { signedIn: true } },
  sign_in_options: { "": {} },
  sign_in: {
    "as an unknown user": {
      outcome: "sign_in_failed",
      send: () => ({ email: nobodysAddress(), password: NEW_PASSWORD }),
    },
  },
  sign_out: { "": { changes: true } },
  set_up: {
    "once there is an admin": {
      outcome: "setup_done",
      send: () => ({ ...INVALID_LINK, email: "none@example.com", password: NEW_PASSWORD }),
    },
  },
  look_at_link: {
    "that works": { send: async (world) => ({ token: await world.newLinkFor("invitation") }), changes: true },
    "that does not": { outcome: "link_expired", send: () => INVALID_LINK },
  },
  choose_password: {
    "with a link": { changes: true, send: withLink("invitation") },
    "with an invalid one": {
      outcome: "link_expired",
      send: () => ({ ...INVALID_LINK, password: NEW_PASSWORD }),
    },
    "with one for another purpose": {
      outcome: "link_expired",
      changes: true,
      send: async (world) => ({ ...(await withLink("verification")(world)), password: NEW_PASSWORD }),
    },
  },
  forgot_password: { "of an unknown user": { send: () => ({ email: nobodysAddress() }) } },
  verify_email: {
    "with a link": { changes: true, send: withLink("verification") },
    "with an invalid one": { outcome: "link_expired", send: () => INVALID_LINK },
  },
  // There is no mail server here: an allowed caller gets that error.
  send_verification: {
    "": { signedIn: true, outcome: "connection_failed", changes: true, send: () => ({}) },
  },
  change_password: {
    "without the present one": {
      signedIn: true,
      outcome: "sign_in_failed",
      send: () => ({ current_password: "wrong", password: NEW_PASSWORD }),
    },
  },
  get_authorization_request: { "without a request": { signedIn: true, outcome: "invalid_input" } },
  authorize_application: {
    "that did not begin in this browser": {
      signedIn: true,
      outcome: "authorization_expired",
      send: () => ({ request: "none", allow: true }),
    },
  },
};

const idsIn = (items: readonly { id?: unknown }[]): string[] =>
  items.map(({ id }) => String(id)).toSorted((a, b) => (a < b ? -1 : 1));

describe("the permissions", () => {
  it("are listed here for every operation and every endpoint of signing in", () => {
    const said = Object.keys(OPERATIONS).filter((name) => !name.includes(" ") && name !== EVENTS.name);
    expect(said.toSorted()).toEqual(catalogue.map(({ name }) => name).toSorted());
    expect(Object.keys(ENDPOINTS).toSorted()).toEqual(sessionEndpoints.map(({ name }) => name).toSorted());
  });

  it("hold for every operation, by role, scope and owner; a refused caller changes and learns nothing", async () => {
    const { world, askers } = await open();
    const things = await openThings(world, askers);
    const [found, wanted]: Record<string, Outcome>[] = [{}, {}];
    for (const [name, row] of Object.entries(OPERATIONS)) {
      const played = await play(world, name, row, askers, things);
      Object.assign(found!, played.found, {
        [`${name} refused`]: played.unchanged,
        [`${name} tells`]: played.tellsMore,
      });
      Object.assign(wanted!, played.wanted, { [`${name} refused`]: true, [`${name} tells`]: [] });
    }
    expect(found).toEqual(wanted);
    expect(Object.keys(found!).length).toBeGreaterThan(2_000);
  });

  it("hold for every endpoint of signing in, which ignores keys", async () => {
    const { world, askers } = await open();
    const [found, wanted]: Record<string, unknown>[] = [{}, {}];
    for (const { name, method, path } of sessionEndpoints) {
      for (const [way, row] of Object.entries(ENDPOINTS[name]!)) {
        const before = await dumpState(world.instance);
        // One after the other: passwords are hashed two at a time.
        for (const shared of askers) {
          const lives = shared.credential === "session" && shared.condition === "alive";
          const refused = row.signedIn === true && !lives;
          const asker = row.changes && !refused ? await world.asker(shared, true) : shared;
          const answer = await ask(world, asker, method, path, await row.send?.(world));
          const cell = `${name} ${way}: ${asker.label}`;
          found![cell] = outcomeOf(answer as ApiResponse<{ code?: string }>);
          wanted![cell] = refused ? "unauthorized" : (row.outcome ?? "ok");
        }
        if (row.changes) continue;
        found![`${name} ${way} changes`] = (await dumpState(world.instance)) !== before;
        wanted![`${name} ${way} changes`] = false;
      }
    }
    expect(found).toEqual(wanted);
  });

  it("let a user sign out of the current session only", async () => {
    const { world, askers } = await open();
    const sessions = async () =>
      (await world.instance.store.read.selectFrom("sessions").select("id").execute()).map(({ id }) => id);
    for (const asker of askers) {
      const before = await sessions();
      expect((await ask(world, asker, "DELETE", "/session")).status).toBe(204);
      const ended = asker.credential === "session" && asker.condition === "alive" ? 1 : 0;
      expect({ asker: asker.label, left: (await sessions()).length }).toEqual({
        asker: asker.label,
        left: before.length - ended,
      });
    }
  });

  it("show nobody another user's keys or sessions, and users to admins only", async () => {
    const { world, askers } = await open();
    const { read } = world.instance.store;
    for (const asker of askers.filter(
      ({ credential, condition }) => credential === "session" && condition === "alive",
    )) {
      const { user } = asker.owner;
      const list = async (path: string): Promise<Record<string, unknown>[]> =>
        (await ask(world, asker, "GET", path)).body as Record<string, unknown>[];
      const mine = await read.selectFrom("api_keys").select("id").where("owner", "=", user!.email).execute();
      expect(mine.length).toBeGreaterThan(0);
      expect(idsIn(await list("/api-keys"))).toEqual(idsIn(mine));
      const own = await read.selectFrom("sessions").select("id").where("user_id", "=", user!.id).execute();
      expect(idsIn(await list("/sessions"))).toEqual(idsIn(own));
      expect((await ask(world, asker, "GET", "/session")).body.user).toMatchObject({ email: user!.email });

      const everybodys = await list("/api-keys?everyone=true");
      const people = await list("/users");
      const others = (shown: unknown) =>
        new Set(
          JSON.stringify(shown)
            .replaceAll(user!.email, "")
            .match(/[\w-]+@example\.com/g),
        ).size;
      const admin = asker.role === "admin";
      expect({ keys: others(everybodys) > 2, people: others(people) > 2 }).toEqual({
        keys: admin,
        people: admin,
      });
      // No address of another user appears where users are not shown.
      expect(admin || others([everybodys, people]) === 0).toBe(true);
      for (const shown of [everybodys, people, await list("/sessions"), await list("/api-keys")])
        expect(JSON.stringify(shown)).not.toMatch(/mill_\w{36}|digest|password_hash|passwordHash/);
    }
  });
});
