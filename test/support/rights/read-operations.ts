/** What only reads: workflows, runs, lists, and what a project has. */
import type { Company } from "./company.ts";
import type { Actor } from "./made.ts";
import type { Answered } from "./surfaces.ts";
import { DATABASE, definitionOf, OTHER_DATABASE } from "./definitions.ts";
import { type Answer, answerTo, isOffered, sees, seesRun } from "./conditions.ts";
import { has } from "./model.ts";
import type { Maker, Makers, Pick } from "./request.ts";
import type { Case } from "./state.ts";
import { hasSchedule, itemsOf } from "./things.ts";

/** The answers where the rules say `ok`, for what may not exist: that is no question of rights. */
const orAbsent = (answer: Answer, ...codes: readonly string[]): Answer =>
  answer === "ok" ? ["ok", ...codes].join("|") : answer;

const DAY = { from: "2026-03-01", to: "2026-03-02" };

export const READ_OPERATIONS: Makers = [
  [1, "get_workflow", ofWorkflow("get_workflow")],
  [1, "get_workflow_version", ofWorkflow("get_workflow_version", { input: { version: 1 } })],
  [1, "list_workflow_versions", ofWorkflow("list_workflow_versions")],
  [1, "get_exposure", ofWorkflow("get_exposure")],
  [1, "get_offer", ofWorkflow("get_offer")],
  [1, "plan_workflow", ofWorkflow("plan_workflow")],
  [1, "get_schedule", ofWorkflow("get_schedule", { absent: ["schedule_not_found"] })],
  [1, "preview_backfill", ofWorkflow("preview_backfill", { input: DAY, absent: ["schedule_not_found"] })],
  [1, "get_workflow_state", ofWorkflow("get_workflow_state", { absent: ["state_not_found"] })],
  [1, "list_state_changes", ofWorkflow("list_state_changes")],
  [1, "list_trigger_deliveries", ofWorkflow("list_trigger_deliveries")],
  [1, "list_backfills", ofWorkflow("list_backfills")],
  [1, "list_backtests", ofWorkflow("list_backtests")],
  [
    2,
    "list_workflow_runs",
    ofWorkflow("list_workflow_runs", {
      check: (company, actor, output, { workflow }) =>
        wrongItems(
          output,
          company.runs
            .filter((run) => run.workflow === workflow)
            .map((run) => [run.id, seesRun(company, actor, run)]),
        ),
    }),
  ],
  [
    2,
    "get_trigger_delivery",
    (company, pick) => {
      const delivery = pick.one(company.deliveries);
      if (delivery === undefined) return undefined;
      const { id, workflow } = delivery;
      return {
        operation: "get_trigger_delivery",
        input: { workflow_id: workflow.id, delivery_id: id },
        expected: (actor) => answerTo(company, actor, "get_trigger_delivery", { workflow }),
      };
    },
  ],
  [1, "get_run_definition", ofRun("get_run_definition", {})],
  [
    2,
    "compare_runs",
    (company, pick) => {
      const [run, next] = [pick.one(company.runs), pick.one(company.runs)];
      if (run === undefined || next === undefined) return undefined;
      return {
        operation: "compare_runs",
        input: { run_id: run.id, with: next.id },
        expected: (actor) => answerTo(company, actor, "compare_runs", { run, next }),
      };
    },
  ],
  [2, "get_run_value", ofRun("get_run_value", { ref: "output" }, ["value_not_found"])],
  [
    2,
    "get_review",
    (company, pick) => {
      const review = pick.one(company.reviews);
      if (review === undefined) return undefined;
      return {
        operation: "get_review",
        input: { review_id: review.id },
        expected: (actor) => answerTo(company, actor, "get_review", { review }),
      };
    },
  ],
  [1, "list_bulk_actions", ofProject("list_bulk_actions", { check: noneHidden })],
  [2, "list_reviews", ofProject("list_reviews", { check: noneHidden })],
  [2, "list_schedules", ofProject("list_schedules", { check: noneHidden })],
  [1, "get_overdue_workflows", ofProject("get_overdue_workflows", { check: noneHidden })],
  [1, "get_project", ofProject("get_project")],
  [1, "list_grants", ofProject("list_grants")],
  [1, "describe_environment", ofProject("describe_environment")],
  [
    4,
    "list_offered_workflows",
    ofProject("list_offered_workflows", {
      check: ({ workflows }, _, output, { project }) =>
        wrongItems(
          output,
          workflows.map((one) => [one.id, isOffered(one, project!)]),
        ),
    }),
  ],
  [
    2,
    "list_projects",
    (company) => ({
      operation: "list_projects",
      input: { limit: 200 },
      expected: (actor) => answerTo(company, actor, "list_projects"),
      check: (actor, output) =>
        wrongItems(
          output,
          company.projects.map((id) => [id, has(company, actor, id, "read")]),
        ),
    }),
  ],
  [1, "describe_database", ofDatabase("describe_database", {})],
  [1, "query_database", ofDatabase("query_database", { sql: "SELECT 1 AS x", wait: 0 })],
  [
    1,
    "validate_workflow",
    ofProject("validate_workflow", { input: { definition: definitionOf("plain", 1, []) } }),
  ],
];

interface Options {
  /** Beside the id. */
  input?: object;
  /** The codes of what may not exist. */
  absent?: readonly string[];
  check?(company: Company, actor: Actor, output: Answered["output"], it: Case): string | undefined;
}

/** What is wrong with a list that has to contain some items, and not others. */
function wrongItems(
  output: Answered["output"],
  items: readonly (readonly [id: string, wanted: boolean])[],
): string | undefined {
  const ids = new Set(itemsOf(output).map(({ id }) => id));
  const wrong = items.find(([id, wanted]) => ids.has(id) !== wanted && !(wanted && ids.size >= 20));
  return wrong && `${wrong[0]} shown: ${!wrong[1]}, expected: ${wrong[1]}`;
}

/** What is wrong with a list of what belongs to workflows: an item that is hidden from the caller. */
function noneHidden(company: Company, actor: Actor, output: Answered["output"]): string | undefined {
  const shown = new Set((itemsOf(output) as { workflow_id?: string }[]).map((item) => item.workflow_id));
  return company.workflows
    .filter(({ id, project }) => shown.has(id) && !sees(company, actor, { project, workflow: id }))
    .map(({ id }) => `${id} is shown`)[0];
}

function ofWorkflow(operation: string, { input, absent = [], check }: Options = {}): Maker {
  return (company, pick) => {
    const workflow = pick.one(absent.length === 0 ? company.workflows : scheduledFirst(company, pick));
    if (workflow === undefined) return undefined;
    return {
      operation,
      input: { workflow_id: workflow.id, ...input },
      expected: (actor) => orAbsent(answerTo(company, actor, operation, { workflow }), ...absent),
      ...(check !== undefined && {
        check: (actor, output) => check(company, actor, output, { workflow }),
      }),
    };
  };
}

function scheduledFirst({ workflows }: Company, pick: Pick): Company["workflows"] {
  const scheduled = workflows.filter(hasSchedule);
  return scheduled.length > 0 && pick.chance(0.5) ? scheduled : workflows;
}

function ofRun(operation: string, input: object, absent: readonly string[] = []): Maker {
  return (company, pick) => {
    const run = pick.one(company.runs);
    if (run === undefined) return undefined;
    return {
      operation,
      input: { run_id: run.id, ...input },
      expected: (actor) => orAbsent(answerTo(company, actor, operation, { run }), ...absent),
    };
  };
}

function ofProject(operation: string, { input, check }: Options = {}): Maker {
  return (company, pick) => {
    const project = pick.one(company.projects)!;
    return {
      operation,
      input: { project, ...input },
      expected: (actor) => answerTo(company, actor, operation, { project }),
      ...(check !== undefined && {
        check: (actor, output) => check(company, actor, output, { project }),
      }),
    };
  };
}

function ofDatabase(operation: string, input: object): Maker {
  return (company, pick) => {
    const project = pick.one(company.ownProjects)!;
    const database = pick.one([DATABASE, OTHER_DATABASE])!;
    return {
      operation,
      input: { database, project, ...input },
      expected: (actor) => answerTo(company, actor, operation, { project, database }),
      aspect: ({ limits }) => `${limits.databases?.join(" ")}`,
      after: () => company.settle(),
    };
  };
}
