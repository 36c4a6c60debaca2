/**
 * Principals × projects × operations: who has no rights in a project finds nothing of it, by any operation, and gets the same
 * answer as for something that does not exist.
 */
import { describe, expect, it } from "vitest";
import { type AnyTool, isServedOn, parseRoute } from "../../src/core/tool.ts";
import { catalogue } from "../../tools/index.ts";
import { type ApiResponse, apiClient } from "../support/http.ts";
import { CLIENT_NAMES, connect, type McpClient } from "../support/mcp.ts";
import {
  dumpProject,
  MARKER,
  missing,
  openProjectMatrix,
  OWN,
  type ProjectCaller,
  type ProjectMatrix,
  type ProjectThings,
  THEIRS,
} from "../support/project-matrix.ts";

/** What each parameter of a route is, by the things of a project. */
const PARAMETERS: Readonly<
  Record<string, (things: ProjectThings, project: string) => string | readonly string[]>
> = {
  workflow_id: ({ workflow }) => workflow,
  run_id: ({ finishedRun, waitingRun }) => [finishedRun, waitingRun],
  approval_id: ({ approval }) => approval,
  database: ({ database }) => database,
  key_id: ({ apiKey }) => apiKey,
  review_id: ({ review }) => review,
  backfill_id: ({ backfill }) => backfill,
  backtest_id: ({ backtest }) => backtest,
  bulk_action_id: ({ bulkAction }) => bulkAction,
  interruption_id: ({ interruption }) => interruption,
  delivery_id: ({ delivery, outgoing }) => [delivery, outgoing],
  subscription_id: ({ subscription }) => subscription,
  trigger: () => `${MARKER}_hook`,
  project: (_, project) => project,
  project_id: (_, project) => project,
  version: () => "1",
  ref: () => ["inputs", "output"],
  email: () => "somebody@example.com",
  kind: () => "database",
  name: ({ database }) => database,
};
/** Parameters of things that belong to people, not to projects: test/surfaces/roles-matrix.test.ts has them. */
const OF_PEOPLE = new Set(["session_id", "user_id"]);

const BODIES: Readonly<Record<string, object>> = {
  update_workflow: { description: "Taken over" },
  archive_workflow: {},
  allow_exposure: { digest: "x" },
  offer_workflow: { projects: ["*"] },
  move_workflow: { project: OWN },
  set_workflow_state: { values: {} },
  reset_workflow_state: { reason: "Taken over" },
  start_backfill: { from: "2026-10-01", to: "2026-10-02" },
  backtest_workflow: { last: 1 },
  start_bulk_action: { action: "retry", status: ["succeeded"] },
  settle_interruption: { outcome: "not_happened" },
  decide_approval: { decision: "approve" },
  delegate_approval: { to: "somebody@example.com" },
  update_project: { name: "Taken over" },
  update_subscription: { name: "Taken over", url: "https://example.com/" },
  set_project_member: { role: "admin" },
  revert_key_changes: { since: "2020-01-01" },
  add_grant: { kind: "database", name: "horse_shop" },
  decide_review: { decision: "approve", digest: "x" },
  query_database: { sql: "SELECT word FROM words" },
};
const EVENTS = { name: "run_events", route: "GET /runs/:run_id/events" } as const;

interface Request {
  method: string;
  path: string;
  body?: object;
}

/** The requests of an operation about things: one for each combination of its parameters. */
function requestsOf(
  tool: Pick<AnyTool, "name" | "route">,
  things: ProjectThings,
  project: string,
): Request[] {
  const { method, path, parameters } = parseRoute(tool);
  let paths: string[] = [path];
  for (const parameter of parameters) {
    const values = [PARAMETERS[parameter]!(things, project)].flat();
    paths = paths.flatMap((one) =>
      values.map((value) => one.replace(`:${parameter}`, encodeURIComponent(value))),
    );
  }
  const body = method === "GET" || method === "DELETE" ? undefined : (BODIES[tool.name] ?? {});
  return paths.map((one) => (body === undefined ? { method, path: one } : { method, path: one, body }));
}

const ofProjects: readonly Pick<AnyTool, "name" | "route">[] = [...catalogue, EVENTS].filter((tool) => {
  const { parameters } = parseRoute(tool);
  return parameters.length > 0 && !parameters.some((parameter) => OF_PEOPLE.has(parameter));
});
const withoutThings = catalogue.filter((tool) => parseRoute(tool).parameters.length === 0);

/** Operations whose answers name the projects that a key belongs to. */
const NAMES_PROJECTS = /\/(?:projects|environment)\//;

let requests = 0;
/** Sends each request from its own address, so that no limit of attempts applies. */
function ask(
  { url }: ProjectMatrix,
  caller: ProjectCaller,
  { method, path, body }: Request,
): Promise<ApiResponse> {
  requests += 1;
  const address = `10.${requests >> 16}.${(requests >> 8) & 255}.${requests & 255}`;
  return apiClient(url)(method, path, body, { ...caller.headers, "X-Forwarded-For": address });
}

/** An answer without what differs between any two: the id of the request, and the ids that were asked for. */
function textOf({ status, body }: ApiResponse, names: readonly string[]): string {
  let text = `${status} ${JSON.stringify(typeof body === "object" ? { ...body, request_id: "" } : body)}`;
  for (const name of names) text = text.replaceAll(name, "(the id)");
  return text;
}

/** An answer, or the message of its refusal. */
const caught = (answer: Promise<unknown>): Promise<unknown> =>
  answer.catch((error: Error) => ({ error: error.message }));

/** What a client gets by resources, completion and prompts about things of a project. */
async function contextOf(client: McpClient, things: ProjectThings): Promise<unknown[]> {
  const { workflow, finishedRun, waitingRun } = things;
  const runs = [finishedRun, waitingRun];
  const uris = [
    `millrace://workflows/${workflow}`,
    ...runs.flatMap((run) =>
      ["", "/values/inputs", "/values/output", "/values/steps.rows.output"].map(
        (part) => `millrace://runs/${run}${part}`,
      ),
    ),
  ];
  const answers: unknown[] = [];
  for (const uri of uris) answers.push(await caught(client.readResource(uri)));
  for (const run of runs) {
    const value = { uri: "millrace://runs/{run_id}/values/{ref}{?offset}" };
    answers.push(
      await caught(client.getPrompt("debug_run", { run_id: run })),
      await caught(client.complete(value, "ref", "", { run_id: run })),
      await caught(client.complete({ uri: "millrace://runs/{run_id}" }, "run_id", run)),
      await caught(client.complete({ name: "debug_run" }, "run_id", run.slice(0, -4))),
    );
  }
  const complete = (typed: string) =>
    caught(client.complete({ uri: "millrace://workflows/{workflow_id}" }, "workflow_id", typed));
  answers.push(await complete(workflow), await complete(workflow.slice(0, -2)));
  return answers;
}

/** Requests in a project of the caller whose bodies take values from a run. */
const takingFrom = (run: string, own: ProjectThings): Request[] => [
  { method: "POST", path: `/workflows/${own.workflow}/runs`, body: { given: { from_run: run } } },
  {
    method: "POST",
    path: "/runs",
    body: { step: { type: "set", values: { x: 1 } }, from: { taken: `${run}.text` }, project: OWN },
  },
  { method: "POST", path: "/workflows", body: { name: "Taken", from: [run], project: OWN } },
];

const namesOf = (things: object, project: string): string[] =>
  [...(Object.values(things) as string[]), project].toSorted((a, b) => b.length - a.length);

/** Requests without a thing in their path that could show something of the other project. */
const PROBES: readonly Request[] = [
  { method: "GET", path: `/workflows?search=${MARKER}` },
  { method: "GET", path: `/workflows?tag=${MARKER}` },
  { method: "GET", path: "/workflows?include=definition&include=last_run" },
  { method: "GET", path: "/workflows?status=published&sort=name" },
  { method: "GET", path: "/runs?limit=100" },
  { method: "GET", path: "/runs?status=succeeded" },
  { method: "GET", path: "/approvals?status=pending" },
  { method: "GET", path: "/interruptions?status=all" },
  { method: "GET", path: "/schedules" },
  { method: "GET", path: "/environment" },
  { method: "GET", path: "/projects" },
  { method: "GET", path: "/offered-workflows" },
  { method: "GET", path: "/audit-log?limit=100" },
  { method: "GET", path: `/audit-log?search=${MARKER}` },
  {
    method: "POST",
    path: "/workflows/validate",
    body: {
      definition: {
        steps: [
          { id: "a", type: "sql", database: "zebr_shop", query: "SELECT 1" },
          { id: "b", type: "workflow", workflow: "alpha.report-zebr" },
        ],
      },
    },
  },
];

describe("a project", () => {
  it("has a way to name a thing of it for every operation that takes one", () => {
    const unknown = ofProjects.flatMap((tool) =>
      parseRoute(tool).parameters.filter((parameter) => !(parameter in PARAMETERS)),
    );
    expect([...new Set(unknown)]).toEqual([]);
  });

  it("is closed to everybody without a role in it: each of its things answers as if it did not exist", async () => {
    const world = await openProjectMatrix();
    const { things, callers } = world;
    const theirs = things[THEIRS];
    const outsiders = callers.filter(({ isInsider }) => !isInsider);
    const before = await dumpProject(world.instance, theirs);
    const [leaks, differences]: string[][] = [[], []];
    let cells = 0;
    for (const caller of outsiders) {
      for (const tool of ofProjects) {
        if (caller.belongs === true && NAMES_PROJECTS.test(tool.route)) continue;
        const found = requestsOf(tool, theirs, THEIRS);
        const none = requestsOf(tool, missing(theirs), "alphq");
        for (const [index, request] of found.entries()) {
          const [answer, expected] = await Promise.all([
            ask(world, caller, request),
            ask(world, caller, none[index]!),
          ]);
          cells += 1;
          const cell = `${caller.label}: ${request.method} ${request.path}`;
          const text = textOf(answer, namesOf(theirs, THEIRS));
          if (answer.status < 400 || text.includes(MARKER)) leaks!.push(`${cell}: ${text.slice(0, 300)}`);
          const absent = textOf(expected, namesOf(missing(theirs), "alphq"));
          if (text !== absent) differences!.push(`${cell}: ${text.slice(0, 300)} / ${absent.slice(0, 300)}`);
        }
      }
    }
    expect({ leaks, differences }).toEqual({ leaks: [], differences: [] });
    expect(await dumpProject(world.instance, theirs)).toBe(before);
    // Own things are found, so the rule above is not that of a server that refuses everything.
    const own = callers.find(({ label }) => label === "a key of the operator in the other project")!;
    const insider = callers.find(({ label }) => label === "a key of the project")!;
    for (const [caller, project] of [
      [own, OWN],
      [insider, THEIRS],
    ] as const) {
      const path = `/workflows/${things[project].workflow}`;
      expect((await ask(world, caller, { method: "GET", path })).status).toBe(200);
    }
    expect(cells).toBeGreaterThan(1_000);
  });

  it("gives no value of its runs to trials, single steps and workflows of other projects", async () => {
    const world = await openProjectMatrix();
    const { things, callers } = world;
    const own = things[OWN];
    const leaks: string[] = [];
    for (const caller of callers.filter(({ isInsider }) => !isInsider))
      for (const run of ["finishedRun", "waitingRun"] as const) {
        const none = takingFrom(missing(things[THEIRS])[run], own);
        for (const [index, request] of takingFrom(things[THEIRS][run], own).entries()) {
          const answer = await ask(world, caller, request);
          const text = textOf(answer, namesOf(things[THEIRS], THEIRS));
          const absent = await ask(world, caller, none[index]!);
          if (answer.status < 400 || text.includes(MARKER))
            leaks.push(`${caller.label}: ${request.path}: ${text.slice(0, 300)}`);
          if (text !== textOf(absent, namesOf(missing(things[THEIRS]), "alphq")))
            leaks.push(`${caller.label}: ${request.path} differs: ${text.slice(0, 300)}`);
        }
      }
    expect(leaks).toEqual([]);
    // A run of their own gives its values.
    const caller = callers.find(({ label }) => label === "a key of the operator in the other project")!;
    const [trial, step] = takingFrom(own.finishedRun, own);
    expect((await ask(world, caller, trial!)).status).toBe(202);
    expect((await ask(world, caller, step!)).status).toBe(202);
  });

  it("shows nothing in lists, counts, searches, suggestions and what is created, to those without a role in it", async () => {
    const world = await openProjectMatrix();
    const { callers, things } = world;
    const leaks: string[] = [];
    const ids = Object.values(things[THEIRS]).filter((id) => id !== things[THEIRS].database);
    for (const caller of callers.filter(({ isInsider }) => !isInsider)) {
      const lists = withoutThings
        .filter((tool) => tool.effect === "read")
        .map((tool): Request => ({ method: "GET", path: parseRoute(tool).path }));
      for (const request of [...lists, ...PROBES]) {
        if (caller.belongs === true && request.path.startsWith("/projects")) continue;
        // What is about the instance, such as a key, is in the audit log of the default project.
        if (caller.isDefaultAdmin === true && request.path.startsWith("/audit-log")) continue;
        const answer = await ask(world, caller, request);
        const sent = JSON.stringify([request.body, request.path]);
        const text = JSON.stringify(answer.body);
        const shown = [MARKER, `${MARKER}_shop`, ...ids].filter(
          (word) => text.includes(word) && !sent.includes(word),
        );
        const marked =
          text.match(/zebra\w*/g)?.filter((word) => word === "zebra" || word === "zebra_shop") ?? [];
        if (shown.length > 0 || (marked.length > 0 && !sent.includes(MARKER)))
          leaks.push(
            `${caller.label}: ${request.method} ${request.path}: ${[...shown, ...marked].join(" ")}`,
          );
        const total = Number(answer.headers.get("x-total-count") ?? "0");
        const length = Array.isArray(answer.body) ? answer.body.length : total;
        // Every list here is shorter than a page, so a larger count would count what is not shown.
        if (answer.status === 200 && length < total && length < 50)
          leaks.push(`${caller.label}: ${request.path} counts`);
      }
    }
    expect(leaks).toEqual([]);
  });

  it("does not change the ETag of a list that does not show it", async () => {
    const world = await openProjectMatrix();
    const own = world.callers.find(({ label }) => label === "a key of the operator in the other project")!;
    const insider = world.callers.find(({ label }) => label === "a key of the project")!;
    const etag = async () =>
      (await ask(world, own, { method: "GET", path: "/workflows" })).headers.get("etag");
    const before = await etag();
    const renamed = await ask(world, insider, {
      method: "PATCH",
      path: `/workflows/${world.things[THEIRS].workflow}`,
      body: { description: "Changed" },
    });
    expect(renamed.status).toBe(200);
    expect(await etag()).toBe(before);
  });

  it("is closed over MCP too: its tools are not listed, and its things answer as if they did not exist", async () => {
    const world = await openProjectMatrix();
    const theirs = world.things[THEIRS];
    const leaks: string[] = [];
    const keys = world.callers.filter(({ isInsider, key }) => !isInsider && key !== undefined);
    for (const [index, caller] of keys.entries()) {
      const client = await connect(CLIENT_NAMES[index % CLIENT_NAMES.length]!, world.mcpUrl, caller.key!);
      const listed = JSON.stringify(await client.listTools());
      if (listed.includes(MARKER)) leaks.push(`${caller.label}: tools/list`);
      const shown = JSON.stringify([
        await client.listResources(),
        await client.complete({ uri: "millrace://workflows/{workflow_id}" }, "workflow_id", ""),
        await client.complete({ name: "debug_run" }, "run_id", ""),
      ]);
      if ([MARKER, theirs.finishedRun, theirs.waitingRun].some((word) => shown.includes(word)))
        leaks.push(`${caller.label}: resources/list, completion/complete: ${shown}`);
      const textsOf = async (things: ProjectThings, project: string): Promise<string[]> =>
        (await contextOf(client, things)).map((answer) => {
          let text = JSON.stringify(answer).replaceAll(/req_[\w-]+/g, "req");
          for (const name of namesOf(things, project)) text = text.replaceAll(name, "(the id)");
          return text;
        });
      const context = await textsOf(theirs, THEIRS);
      for (const [number, none] of (await textsOf(missing(theirs), "alphq")).entries())
        if (context[number] !== none || none.includes(MARKER))
          leaks.push(`${caller.label}: resource ${number}: ${context[number]!.slice(0, 300)} / ${none}`);
      for (const tool of catalogue.filter((one) => isServedOn(one, "mcp"))) {
        if (caller.belongs === true && NAMES_PROJECTS.test(tool.route)) continue;
        const parameters = parseRoute(tool).parameters.filter((parameter) => parameter in PARAMETERS);
        if (parameters.length === 0) continue;
        const inputOf = (things: ProjectThings, project: string) =>
          Object.fromEntries([
            ...parameters.map((parameter) => {
              const value = [PARAMETERS[parameter]!(things, project)].flat()[0]!;
              return [parameter, parameter === "version" ? Number(value) : value];
            }),
            ...Object.entries(BODIES[tool.name] ?? {}),
          ]) as Record<string, unknown>;
        const answer = async (input: Record<string, unknown>, names: readonly string[]): Promise<string> => {
          const result = await client
            .call(tool.name, input)
            .catch((error: Error) => ({ error: error.message }));
          let text = JSON.stringify(result).replaceAll(/req_[\w-]+/g, "req");
          for (const name of names) text = text.replaceAll(name, "(the id)");
          return text;
        };
        const found = await answer(inputOf(theirs, THEIRS), namesOf(theirs, THEIRS));
        const none = await answer(inputOf(missing(theirs), "alphq"), namesOf(missing(theirs), "alphq"));
        if (found !== none || found.includes(MARKER))
          leaks.push(`${caller.label}: ${tool.name}: ${found.slice(0, 300)} / ${none.slice(0, 300)}`);
      }
      await client.close();
    }
    expect(leaks).toEqual([]);
    // Those who belong to it get these things, so the rule above is not that of a server without resources.
    const insider = world.callers.find(({ label }) => label === "a key of the project")!;
    const client = await connect("v2 pinned to 2026-07-28", world.mcpUrl, insider.key!);
    const answers = (await contextOf(client, theirs)).map((answer) => JSON.stringify(answer));
    expect(answers).not.toContain("[]");
    const refusals = answers.filter((answer) => answer.includes('"error":"'));
    // The run that waits has no output yet.
    expect(refusals).toEqual([expect.stringContaining('has no value \\"output\\"')]);
  });
});
