/**
 * A generator over the limits of a key: whatever they are, a limited key succeeds only where a key with the same scopes and no
 * limits does, sees no more, and is refused everything outside of its limits.
 */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Scope } from "../../schemas/actor.ts";
import type { KeyLimits } from "../../src/core/access.ts";
import { type ApiResponse, apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";

const SCOPES = ["read", "write", "publish", "run", "approve", "admin"] as const;
const IDS = ["alpha", "beta", "gamma"] as const;

interface Probe {
  tool: string;
  scope: Scope;
  method: string;
  path: string;
  body?: unknown;
  /** The workflow that it is about; none for a list. */
  workflow?: string;
}

const probesOf = (id: string, run: string): Probe[] => [
  { tool: "get_workflow", scope: "read", method: "GET", path: `/workflows/${id}`, workflow: id },
  {
    tool: "list_workflow_versions",
    scope: "read",
    method: "GET",
    path: `/workflows/${id}/versions`,
    workflow: id,
  },
  { tool: "list_workflow_runs", scope: "read", method: "GET", path: `/workflows/${id}/runs`, workflow: id },
  { tool: "get_exposure", scope: "read", method: "GET", path: `/workflows/${id}/exposure`, workflow: id },
  { tool: "get_run", scope: "read", method: "GET", path: `/runs/${run}`, workflow: id },
  { tool: "get_run_value", scope: "read", method: "GET", path: `/runs/${run}/values/inputs`, workflow: id },
  { tool: "get_run_definition", scope: "read", method: "GET", path: `/runs/${run}/definition`, workflow: id },
  {
    tool: "compare_runs",
    scope: "read",
    method: "GET",
    path: `/runs/${run}/compare?with=${run}`,
    workflow: id,
  },
  { tool: "run_events", scope: "read", method: "GET", path: `/runs/${run}/events`, workflow: id },
  {
    tool: "run_workflow",
    scope: "run",
    method: "POST",
    path: `/workflows/${id}/runs`,
    body: {},
    workflow: id,
  },
  { tool: "retry_run", scope: "run", method: "POST", path: `/runs/${run}/retry`, body: {}, workflow: id },
  {
    tool: "unpublish_workflow",
    scope: "publish",
    method: "POST",
    path: `/workflows/none/unpublish`,
    body: {},
  },
  {
    tool: "validate_workflow",
    scope: "write",
    method: "POST",
    path: "/workflows/validate",
    body: { definition: {} },
  },
  { tool: "list_workflows", scope: "read", method: "GET", path: "/workflows" },
  { tool: "list_runs", scope: "read", method: "GET", path: "/runs" },
  { tool: "group_runs", scope: "read", method: "GET", path: "/runs/groups?group_by=workflow_id,run.id" },
  { tool: "list_schedules", scope: "read", method: "GET", path: "/schedules" },
  { tool: "list_approvals", scope: "read", method: "GET", path: "/approvals" },
  { tool: "list_audit_log", scope: "admin", method: "GET", path: "/audit-log?limit=5" },
  { tool: "describe_environment", scope: "read", method: "GET", path: "/environment" },
];

/** How what is outside of the limits is refused. */
const REFUSALS = new Set([
  "403 not_permitted",
  "403 missing_scope",
  "404 workflow_not_found",
  "404 run_not_found",
]);

const TOOLS = [...new Set(probesOf("", "").map(({ tool }) => tool))];

const someOf = <T>(items: readonly T[]) => fc.subarray([...items], { minLength: 1 });
const limits: fc.Arbitrary<KeyLimits> = fc.record(
  { workflows: someOf(IDS), tools: someOf(TOOLS) },
  { requiredKeys: [] },
);

/** Ids of workflows that an answer names. */
const named = ({ body }: ApiResponse): string[] => {
  const text = JSON.stringify(body);
  return IDS.filter((id) => text.includes(`"${id}"`));
};

it("A limited key gets nothing that it would not get without its limits, and nothing outside of them", async () => {
  const instance = await testInstance();
  const executor = await instance.executor();
  const { url } = await instance.rest();
  const admin = apiClient(url, (await instance.key({ scopes: [...SCOPES] })).value);
  const probes: Probe[] = [];
  for (const id of IDS) {
    const definition = { steps: [{ id: "a", type: "set", values: { x: 1 } }] };
    await admin("POST", "/workflows", { name: id, definition });
    await admin("POST", `/workflows/${id}/publish`, {});
    const { body } = await admin("POST", `/workflows/${id}/runs`, { wait: 20 });
    probes.push(...probesOf(id, body.id as string));
  }
  await executor.stop(0);
  let outside = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.subarray([...SCOPES]),
      limits,
      fc.subarray(probes, { minLength: 6, maxLength: 10 }),
      async (scopes, limit, chosen) => {
        const [limited, free] = await Promise.all(
          [limit, null].map(async (given) =>
            apiClient(url, (await instance.key({ scopes, limits: given })).value),
          ),
        );
        for (const probe of chosen) {
          const ask = (call: ReturnType<typeof apiClient>) => call(probe.method, probe.path, probe.body);
          const [answer, unlimited] = [await ask(limited!), await ask(free!)];
          const isOutside =
            limit.tools?.includes(probe.tool) === false ||
            (probe.workflow !== undefined && limit.workflows?.includes(probe.workflow) === false);
          outside += Number(isOutside);
          const hidden = new Set<string>(IDS.filter((id) => limit.workflows?.includes(id) === false));
          // The id that was asked for may be repeated.
          const shown = named(answer).filter((id) => id !== probe.workflow || answer.status < 400);
          expect({
            probe,
            more: answer.status < 400 && answer.status !== unlimited.status,
            allowed: isOutside && !REFUSALS.has(`${answer.status} ${answer.body.code}`),
            shown: shown.filter((id) => hidden.has(id)),
          }).toEqual({ probe, more: false, allowed: false, shown: [] });
        }
      },
    ),
    { numRuns: 60 },
  );
  expect(outside).toBeGreaterThan(100);
});
