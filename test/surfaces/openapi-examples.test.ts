import { describe, expect, it } from "vitest";
import { createSamples } from "../../src/commands/samples.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { type ApiClient, apiClient } from "../support/http.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { type Operation, operations, schemaErrorsAt } from "../support/openapi.ts";
import { runHere, startProgram } from "../support/process.ts";

/** What no new instance has: things with ids of their own, and parts that no sample has. With the code of the answer. */
const MISSING: Readonly<Record<string, string>> = {
  get_approval: "approval_not_found",
  decide_approval: "approval_not_found",
  delegate_approval: "approval_not_found",
  get_delivery: "delivery_not_found",
  redeliver: "delivery_not_found",
  get_review: "review_not_found",
  withdraw_review: "review_not_found",
  get_run: "run_not_found",
  get_run_definition: "run_not_found",
  get_run_value: "run_not_found",
  list_run_log: "run_not_found",
  cancel_run: "run_not_found",
  retry_run: "run_not_found",
  get_subscription: "subscription_not_found",
  rotate_subscription_secret: "subscription_not_found",
  test_subscription: "subscription_not_found",
  update_subscription: "subscription_not_found",
  delete_subscription: "subscription_not_found",
  get_backfill: "backfill_not_found",
  cancel_backfill: "backfill_not_found",
  get_trigger_delivery: "trigger_delivery_not_found",
  redeliver_trigger_delivery: "trigger_delivery_not_found",
  preview_backfill: "schedule_not_found",
  start_backfill: "schedule_not_found",
  get_schedule: "schedule_not_found",
  pause_schedule: "schedule_not_found",
  resume_schedule: "schedule_not_found",
  get_workflow_state: "state_not_found",
  set_workflow_state: "state_not_found",
  reset_workflow_state: "state_not_found",
  rotate_trigger: "trigger_not_found",
  allow_exposure: "exposure_not_requested",
  move_workflow: "project_not_found",
  delete_project: "project_not_empty",
};

/** Operations that the page can execute with a key: no session, no stream, and no URL with a token. */
const ORDER = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const executable = operations
  .filter(
    ({ security, path, operationId }) =>
      security === undefined && !path.startsWith("/session") && operationId !== "run_events",
  )
  // What reads comes first, and what deletes comes last.
  .toSorted((one, other) => ORDER.indexOf(one.method) - ORDER.indexOf(other.method));

/** Sends the example of an operation, as the page does. */
async function execute(call: ApiClient, { method, path, parameters, requestBody }: Operation) {
  let url = path;
  const query = new URLSearchParams();
  for (const { in: place, name, required, schema } of parameters) {
    const value = String(schema.example);
    if (place === "path") url = url.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === "query" && required) query.set(name, value);
  }
  const body = requestBody?.content["application/json"]!.example;
  return call(method, query.size === 0 ? url : `${url}?${query.toString()}`, body);
}

describe("the examples of the OpenAPI document", () => {
  it("work as they stand in an instance with the samples, and their answers are as documented", async () => {
    const stateDir = temporaryDirectory();
    const env = { MILLRACE_STATE_DIR: stateDir };
    const io = { out() {}, err() {}, terminal: false, errTerminal: false, env, onExit() {} };
    await createSamples(io, readEnvironment(env));
    const scopes = ["read", "write", "publish", "run", "approve", "admin"];
    const { out } = await runHere(["keys", "create", "--name", "test", "--scope", ...scopes], env);
    const server = await startProgram("serve", stateDir);
    const call = apiClient(server.url, out.trim());

    const outcomes: unknown[] = [];
    for (const operation of executable) {
      const { operationId, method, path, responses } = operation;
      const { status, headers, body } = await execute(call, operation);
      const type = headers.get("content-type")?.split(";")[0] ?? "";
      const place = [
        "paths",
        path,
        method.toLowerCase(),
        "responses",
        String(status),
        "content",
        type,
        "schema",
      ];
      const isKnown = responses[status]?.content?.[type] !== undefined;
      // Each line of JSON is one value.
      const values: unknown[] = type === "application/x-ndjson" ? (body as unknown[]) : [body];
      const issues = isKnown
        ? values.flatMap((value) => schemaErrorsAt(place, value) ?? [])
        : ["not documented"];
      outcomes.push([operationId, status < 300 ? "ok" : (body as { code: string }).code, issues]);
    }
    expect(outcomes).toEqual(
      executable.map(({ operationId }) => [operationId, MISSING[operationId] ?? "ok", []]),
    );
  });
});
