/** Every route and method, with requests made up from the OpenAPI document. */
import { Agent, request } from "node:http";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Scope } from "../../schemas/actor.ts";
import { Problem } from "../../schemas/problem.ts";
import { parseRoute } from "../../src/core/tool.ts";
import { sessionEndpoints } from "../../src/surfaces/session/endpoints.ts";
import { catalogue } from "../../tools/index.ts";
import { arbitraryRequest, type GeneratedRequest } from "../support/arbitraries.ts";
import { apiClient } from "../support/http.ts";
import { schemaErrorsAt, type Operation, operations } from "../support/openapi.ts";
import { addProject } from "../support/projects.ts";
import { addUser, signedInUser, signIn } from "../support/users.ts";
import { expectProblem, openRest } from "../support/rest.ts";
import { keepNormalPriority } from "../support/normal-priority.ts";
import { caseCount, testSeed } from "../support/random.ts";

const RUNS = caseCount(1_200, 20_000);
const SEED = testSeed("fuzz");
/** How often operations with too few kinds of answers get more requests. */
const MORE_ROUNDS = 40;

interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

/** Sends it over a connection that is kept: what one request leaves behind meets the next. */
const send = (
  agent: Agent,
  url: string,
  { method, target, headers, body }: GeneratedRequest,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
    const req = request(`${url}${target}`, { method, agent, headers: { ...headers, ...length } }, (res) => {
      let text = "";
      res.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      res.once("end", () => resolve({ status: res.statusCode!, headers: res.headers, text }));
      res.once("error", reject);
    });
    // `new URL` tidies a path up: this is what was made up.
    req.path = target;
    req.once("error", reject);
    req.end(body);
  });

/** What is wrong with an answer by what is documented for its operation. */
function complaints(
  { path, method, responses }: Operation,
  { status, headers, text }: Answer,
  target: string,
): string[] {
  const found: string[] = [];
  // 502 means that another server failed or is missing: no mail can be sent here.
  if (status >= 500 && status !== 502) found.push(`${status}`);
  const documented = responses[status];
  if (documented === undefined) return [...found, `${status} is not documented: ${text}`];
  for (const name of ["X-Request-Id", ...Object.keys(documented.headers ?? {})]) {
    // The last page has no next one, most totals are complete, and what holds a run or a change request changes without a
    // revision.
    const left =
      ["Link", "X-Total-Count-Capped"].includes(name) ||
      (name === "ETag" && /last_(?:run|review)|schedule/.test(target));
    if (!left && headers[name.toLowerCase()] === undefined) found.push(`${status} without ${name}`);
  }
  const [type] = Object.keys(documented.content ?? {});
  if (headers["content-type"] !== type) found.push(`${status} as ${String(headers["content-type"])}`);
  if (type === undefined) return text === "" ? found : [...found, `${status} with a body: ${text}`];
  // These are no JSON; they have tests of their own.
  if (type === "text/event-stream" || type === "application/x-ndjson") return found;
  const where = ["paths", path, method.toLowerCase(), "responses", status, "content", type, "schema"];
  const issues = schemaErrorsAt(where, JSON.parse(text));
  return issues === undefined ? found : [...found, `${issues}: ${text.slice(0, 500)}`];
}

/** What is wrong with an answer that may have any status except 5xx. */
function troubles(method: string, { status, headers, text }: Answer): string[] {
  if (status < 400) return [];
  const found: string[] = [];
  if (status >= 500) found.push(`${status}`);
  if (status === 405 && headers["allow"] === undefined) found.push("405 without Allow");
  if (headers["content-type"] !== "application/problem+json")
    found.push(`as ${String(headers["content-type"])}`);
  if (method !== "HEAD" && Problem.parse(JSON.parse(text)).status !== status) found.push(text);
  return found;
}

/** The secret part of a URL that others send to. */
const tokenIn = (address: string): string => address.split("/").at(-1)!;

/** An instance with workflows in several states, and valid values for its parameters. */
async function ready() {
  const { instance, url, call } = await openRest();
  const projects = Array.from({ length: 40 }, (_, index) => `project-${index}`);
  for (const id of projects) await addProject(instance, id);
  const { value: key } = await instance.key({
    scopes: [...Scope.options],
    projects: ["default", ...projects],
  });
  await instance.executor();
  // Enough that some are still alive when many have been archived.
  const ids = ["weekly-revenue", "workflow", "old", ...Array.from({ length: 30 }, (_, i) => `spare-${i}`)];
  for (const id of ids) await call("POST", "/workflows", { name: id, tags: ["a"] });
  await call("PATCH", "/workflows/weekly-revenue", { definition: { steps: [] } });
  const steps = [{ id: "hello", type: "set", values: { a: 1 } }];
  const schedule = { cron: "0 0 1 1 *" };
  const state = { last_id: { type: "integer", default: 0 } };
  await call("POST", "/workflows", { name: "Live", definition: { steps, schedule, state } });
  await call("POST", "/workflows/live/publish");
  const run = await call("POST", "/workflows/live/runs", { wait: 20 });
  const triggers = [{ id: "pushed", type: "webhook" }];
  await call("POST", "/workflows", { name: "Hooked", definition: { steps, triggers } });
  await call("POST", "/workflows/hooked/publish");
  const { body: hooks } = await call("GET", "/workflows/hooked/triggers");
  const ask = [{ id: "ask", type: "approval", message: "Go?", timeout: "2h" }];
  await call("POST", "/workflows", { name: "Asking", definition: { steps: ask } });
  const { body: asking } = await call("POST", "/workflows/asking/runs", { wait: 20 });
  const event = { schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } };
  const expecting = [{ id: "callback", type: "wait", event }];
  await call("POST", "/workflows", { name: "Expecting", definition: { steps: expecting } });
  const { body: expected } = await call("POST", "/workflows/expecting/runs", { wait: 20 });
  const { body: shown } = await call("GET", `/runs/${expected.id}?step_id=callback`);
  await call("DELETE", "/workflows/old");
  const { headers } = await call("GET", "/workflows?limit=1");
  const cursor = /cursor=([^>&]+)/.exec(headers.get("link")!)![1]!;
  const { user: admin } = await signedInUser(instance, { email: "root@example.com", role: "admin" });
  const users = [
    await addUser(instance, { email: "ann@example.com" }),
    await addUser(instance, { email: "bob@example.com", role: "viewer", status: "deactivated" }),
    await addUser(instance, { email: "new@example.com", role: "admin", status: "invited" }),
  ];
  const keys = await Promise.all(
    Array.from({ length: 20 }, () => instance.key({ owner: admin.email, name: "spare" })),
  );
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  return {
    url,
    key,
    agent,
    /** A browser of its own for each request: some of them sign out. */
    signedIn: async () => (await signIn(instance, admin)).cookie,
    known: {
      key_id: keys.map(({ record }) => record.id),
      // Not the admin's own: made a viewer, the admin could do nothing afterwards.
      user_id: users.map(({ id }) => id),
      workflow_id: [...ids, "live", "live", "live"],
      run_id: [run.body.id as string],
      approval_id: [asking.approvals[0].id as string],
      project: projects,
      email: ["ann@example.com"],
      ref: ["output", "inputs", "steps.hello.output"],
      token: [tokenIn(shown.steps[0].event_url as string), tokenIn(hooks.items[0].url as string)],
      version: ["1", "2", "3"],
      "If-Match": ['"1"', '"2"', "*", 'W/"3"'],
      "If-None-Match": ['"1"', "*", headers.get("etag")!],
      "Idempotency-Key": ["one", "two"],
      cursor: [cursor],
    },
  };
}

const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
const settings = { numRuns: RUNS, seed: SEED, endOnFailure: true };

/**
 * Operations for which generated requests rarely succeed: they need a definition that runs, a pending approval, an
 * expected event, an existing schedule or state, a date in the future or a correct password.
 */
const NEED_LUCK: ReadonlySet<string> = new Set([
  "add_grant",
  "create_subscription",
  "delete_subscription",
  "get_delivery",
  "get_subscription",
  "redeliver",
  "rotate_subscription_secret",
  "test_subscription",
  "update_subscription",
  "decide_review",
  "describe_key",
  "get_key_changes",
  "get_review",
  "move_workflow",
  "remove_grant",
  "remove_project_member",
  "revert_key_changes",
  "set_project_member",
  "withdraw_review",
  "cancel_run",
  "create_api_key",
  "decide_approval",
  "delegate_approval",
  "set_absence",
  "get_trigger_delivery",
  "redeliver_trigger_delivery",
  "rotate_trigger",
  "describe_database",
  "end_session",
  "allow_exposure",
  "get_exposure",
  "get_schedule",
  "list_state_changes",
  "reset_workflow_state",
  "list_backfills",
  "get_backfill",
  "cancel_backfill",
  "preview_backfill",
  "start_backfill",
  "compare_runs",
  "backtest_workflow",
  "start_bulk_action",
  "cancel_bulk_action",
  "get_bulk_action",
  "list_bulk_action_runs",
  "get_interruption",
  "settle_interruption",
  "cancel_backtest",
  "get_backtest",
  "list_backtest_runs",
  "list_backtests",
  "get_workflow_state",
  "invite_user",
  "pause_schedule",
  "query_database",
  "run_step",
  "publish_workflow",
  "receive_event",
  "renew_invitation",
  "reset_user_password",
  "resume_schedule",
  "retry_run",
  "rotate_api_key",
  "run_workflow",
  "set_workflow_state",
  "unpublish_workflow",
  "update_workflow",
  "withdraw_exposure",
  ...sessionEndpoints.filter(({ input }) => Object.keys(input.shape).length > 0).map(({ name }) => name),
]);

const sessionPaths: ReadonlySet<string> = new Set(sessionEndpoints.map(({ name }) => name));

/** Whether the document says that an operation needs a signed-in user. */
const forPeople = ({ security }: Operation): boolean =>
  security?.length === 1 && "Session" in (security[0] as object);

beforeAll(() => keepNormalPriority());

describe("any request", () => {
  it("generated from the document gets a documented answer, never a 5xx", async () => {
    const { url, key, agent, known, signedIn } = await ready();
    const seen = new Map<string, number>();
    const check = async ({ id, made }: { id: string; made: GeneratedRequest }): Promise<void> => {
      const operation = byId.get(id)!;
      const proof: Record<string, string> = forPeople(operation)
        ? { Cookie: await signedIn() }
        : { "X-API-Key": key };
      const answer = await send(agent, url, { ...made, headers: { ...made.headers, ...proof } });
      const what = `${operation.operationId} ${answer.status}`;
      seen.set(what, (seen.get(what) ?? 0) + 1);
      expect(complaints(operation, answer, made.target)).toEqual([]);
    };
    const requestsOf = (some: readonly Operation[]) =>
      fc
        .constantFrom(...some)
        .chain((operation) =>
          arbitraryRequest(operation, known).map((made) => ({ id: operation.operationId, made })),
        );
    await fc.assert(fc.asyncProperty(requestsOf(operations), check), settings);
    // The test would prove little if every request were refused at once.
    const expected = operations.flatMap(({ operationId: id, responses }) => {
      const went = `${id} ${Object.keys(responses).find((status) => status.startsWith("2"))}`;
      if (id === "send_verification") return [`${id} 502`];
      if (id === "health" || (sessionPaths.has(id) && !NEED_LUCK.has(id))) return [went];
      return NEED_LUCK.has(id) ? [`${id} 400`] : [went, `${id} 400`];
    });
    // Chance may leave out an answer of an operation: such operations get more requests.
    for (let more = 1; more <= MORE_ROUNDS; more += 1) {
      const missing = new Set(expected.filter((what) => !seen.has(what)).map((what) => what.split(" ")[0]));
      const some = operations.filter(({ operationId }) => missing.has(operationId));
      if (some.length === 0) break;
      const again = { ...settings, seed: SEED + more, numRuns: 20 * some.length };
      await fc.assert(fc.asyncProperty(requestsOf(some), check), again);
    }
    expect([...seen.keys()]).toEqual(expect.arrayContaining(expected));
  });

  it("without a valid key gets a documented 401, whatever its content", async () => {
    const { url, agent, known } = await ready();
    const keyed = operations.filter(({ security }) => security?.length !== 0);
    const one = fc
      .constantFrom(...keyed)
      .chain((operation) =>
        arbitraryRequest(operation, known).map((made) => ({ id: operation.operationId, made })),
      );
    const bad = fc.option(
      fc.string({ maxLength: 60 }).map((value) => value.replaceAll(/[^\x20-\x7e]/g, "x")),
    );
    await fc.assert(
      fc.asyncProperty(one, bad, async ({ id, made }, value) => {
        const headers = { ...made.headers, ...(value !== null && { "X-API-Key": value }) };
        const answer = await send(agent, url, { ...made, headers });
        expect(complaints(byId.get(id)!, answer, made.target)).toEqual([]);
        expect(answer.status).toBe(401);
      }),
      { ...settings, numRuns: Math.ceil(RUNS / 5) },
    );
  });

  it("that needs a signed-in user is refused with a key, even one with every scope", async () => {
    const { instance, url } = await openRest();
    const { value } = await instance.key({ scopes: [...Scope.options] });
    for (const tool of catalogue.filter(({ requiresUser: forPerson }) => forPerson)) {
      const { method, path } = parseRoute(tool);
      const body = method === "GET" || method === "DELETE" ? undefined : {};
      const answer = await apiClient(url, value)(method, path, body);
      expect({ tool: tool.name, code: answer.body.code }).toEqual({ tool: tool.name, code: "person_needed" });
      expect(expectProblem(answer, "person_needed").detail).toContain(tool.name);
    }
  });

  it("for any path and method gets a result or a problem, never a 5xx", async () => {
    const { url, key, agent } = await ready();
    const part = fc.oneof(
      fc.constantFrom(
        "workflows",
        "weekly-revenue",
        "versions",
        "restore",
        "health",
        "apidoc",
        "..",
        "%2e",
        "%zz",
        "",
      ),
      fc.string({ maxLength: 10 }).map(encodeURIComponent),
    );
    const target = fc.array(part, { maxLength: 5 }).map((parts) => `/${parts.join("/")}`);
    const method = fc.constantFrom(
      "GET",
      "HEAD",
      "POST",
      "PUT",
      "PATCH",
      "DELETE",
      "OPTIONS",
      "TRACE",
      "SEARCH",
      "PURGE",
    );
    await fc.assert(
      fc.asyncProperty(method, target, fc.option(fc.string(), { nil: undefined }), async (...made) => {
        const [name, path, body] = made;
        const withBody = name === "POST" || name === "PUT" || name === "PATCH" ? body : undefined;
        const answer = await send(agent, url, {
          method: name,
          target: path,
          headers: { "X-API-Key": key },
          body: withBody,
        });
        expect(troubles(name, answer)).toEqual([]);
      }),
      { ...settings, numRuns: Math.ceil(RUNS / 3) },
    );
  });
});
