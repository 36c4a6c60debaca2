/** The examples of the interactive reference, which sends each as it stands: with the samples of the first start they work. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { Scope } from "../../schemas/actor.ts";
import { makeShop } from "../../examples/shop.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { openRest } from "../support/rest.ts";
import { apiClient } from "../support/http.ts";

/** What a new installation lacks: the example names something that somebody has to create first. */
const LACKS = new Set([
  "api_key_not_found",
  "approval_not_found",
  "backfill_not_found",
  "backtest_not_found",
  "bulk_action_not_found",
  "delivery_not_found",
  "event_not_found",
  "exposure_not_requested",
  "grant_not_found",
  "interruption_not_found",
  "project_not_found",
  "review_not_found",
  "run_not_found",
  "schedule_not_found",
  "state_not_found",
  "subscription_not_found",
  "trigger_delivery_not_found",
  "trigger_not_found",
  // No executor runs the examples of the workflow in this test.
  "examples_failed",
  // Only for people who have signed in.
  "person_needed",
]);

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  example?: string | number | boolean;
  schema: { example?: string | number | boolean };
}
interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

/** As Swagger UI fills a form in. */
const filledIn = ({ example, schema }: Parameter): string => String(example ?? schema.example ?? "");

/** An operation's request with its examples. */
function requestOf(path: string, { parameters = [], requestBody }: Operation) {
  const places = (place: string): Parameter[] => parameters.filter((parameter) => parameter.in === place);
  const url = places("path").reduce(
    (rest, parameter) => rest.replace(`{${parameter.name}}`, encodeURIComponent(filledIn(parameter))),
    path,
  );
  const query = places("query").filter((parameter) => filledIn(parameter) !== "");
  const search = new URLSearchParams(
    query.map((parameter): [string, string] => [parameter.name, filledIn(parameter)]),
  );
  const body = requestBody?.content["application/json"]?.example as Record<string, unknown> | undefined;
  // No executor runs here, so that there is nothing to wait for.
  const sent = body !== undefined && "wait" in body ? { ...body, wait: 0 } : body;
  return { url: search.size === 0 ? url : `${url}?${search.toString()}`, body: sent };
}

/** Streams, and signing in, which needs what the person knows. */
const isOther = (path: string): boolean => path === "/runs/{run_id}/events" || path.startsWith("/session");

it("each example of the reference is accepted by a new installation, or names what has to be created first", async () => {
  const directory = temporaryDirectory();
  const dataset = join(directory, "shop.db");
  makeShop(dataset);
  const { url, instance } = await openRest({
    config: { databases: [{ name: "shop", type: "sqlite", dataset }], defaults: { database: "shop" } },
  });
  const call = apiClient(url, (await instance.key({ scopes: Scope.options })).value);
  const sample = parse(readFileSync("examples/samples/weekly-revenue.yaml", "utf8")) as Record<
    string,
    unknown
  >;
  const { id, name, description, tags, ...definition } = sample;
  expect((await call("POST", "/workflows", { id, name, description, tags, definition })).status).toBe(201);
  const { body: document } = await call<{ paths: Record<string, Record<string, Operation>> }>(
    "GET",
    "/openapi.json",
  );
  const refused: string[] = [];
  for (const method of ["get", "post", "put", "patch", "delete"])
    for (const [path, operations] of Object.entries(document.paths)) {
      const operation = operations[method];
      if (operation === undefined || isOther(path)) continue;
      const { url: target, body } = requestOf(path, operation);
      const response = await call<{ code?: string; detail?: string }>(method.toUpperCase(), target, body);
      if (response.status < 400 || LACKS.has(response.body.code ?? "")) continue;
      refused.push(`${method} ${target}: ${response.status} ${response.body.detail}`);
    }
  expect(refused).toEqual([]);
});
