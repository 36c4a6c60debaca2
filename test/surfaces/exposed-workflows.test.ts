import { setImmediate as onNextTurn } from "node:timers";
import { expect, it } from "vitest";
import { exposedWorkflows } from "../../src/surfaces/mcp/exposed-workflows.ts";

it("lets other work run before each workflow that it lists (exposedWorkflows)", async () => {
  const requests = [1, 2, 3, 4, 5].map((index) => ({
    id: `flow-${index}`,
    project: "default",
    version: 1,
    name: `Flow ${index}`,
    description: "",
    author: "ann@example.com",
    definition: {
      inputs: { type: "object", properties: { [`in_${index}`]: { type: "string" } } },
      steps: [],
    },
    consent: { version: 1, digest: null, by: "ann@example.com", at: "2026-01-01T00:00:00Z" },
  }));
  const workflows = {
    consentedExposures: () => Promise.resolve(requests),
    revision: () => Promise.resolve(1),
    projectOf: () => Promise.resolve("default"),
    find: () => Promise.resolve(undefined),
    findVersion: () => Promise.resolve(undefined),
  };
  const runWorkflow = { name: "run_workflow", inputSchema: { type: "object" as const } };
  const list = exposedWorkflows(
    workflows as unknown as Parameters<typeof exposedWorkflows>[0],
    runWorkflow as unknown as Parameters<typeof exposedWorkflows>[1],
    new Set(),
  );
  let turns = 0;
  let isListed = false;
  const count = (): void => {
    turns += 1;
    if (!isListed) onNextTurn(count);
  };
  onNextTurn(count);
  expect(await list()).toHaveLength(requests.length);
  isListed = true;
  expect(turns).toBeGreaterThanOrEqual(requests.length);
});
