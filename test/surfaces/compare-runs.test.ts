/** A comparison shows of two runs only what its caller may read of each. */
import { describe, expect, it } from "vitest";
import { startTestExecutor } from "../support/executor.ts";
import { apiClient } from "../support/http.ts";
import { addProject } from "../support/projects.ts";
import { openRest } from "../support/rest.ts";

const EVERYTHING = ["read", "write", "run", "publish", "approve", "admin"] as const;

const linking = (event: boolean) => ({
  inputs: { type: "object", properties: { pad: { type: "string", default: "" } } },
  steps: [
    {
      id: "link",
      type: "set",
      values: { text: event ? "${{ inputs.pad + run.event_urls.callback }}" : "${{ inputs.pad }}" },
    },
    { id: "callback", type: "wait", ...(event ? { event: {} } : { for: "1h" }) },
  ],
});

/** A workflow in each of two projects, and functions that run it and compare runs. */
async function open() {
  const opened = await openRest();
  const { instance, url } = opened;
  await addProject(instance, "finance");
  const executor = await startTestExecutor(instance);
  const { value } = await instance.key({ scopes: [...EVERYTHING], projects: ["default", "finance"] });
  const admin = apiClient(url, value);
  const create = async (project: string, event: boolean): Promise<string> => {
    const definition = linking(event);
    const { body } = await admin("POST", "/workflows", {
      name: `Linking ${project} ${event}`,
      definition,
      project,
    });
    expect(body.issues).toEqual([]);
    return body.id as string;
  };
  const run = async (workflow: string, inputs: object = {}): Promise<string> => {
    const { body } = await admin("POST", `/workflows/${workflow}/runs`, { inputs });
    executor.queue.wake();
    await executor.queue.waitUntilIdle();
    return body.id as string;
  };
  return { instance, url, admin, create, run };
}

describe("compare_runs over REST", () => {
  it("hides event URLs from callers who may not run things there, whole or cut", async () => {
    const { instance, url, admin, create, run } = await open();
    const workflow = await create("default", true);
    // So that the preview ends within the token.
    const before = await run(workflow);
    const ids = [await run(workflow), await run(workflow, { pad: "x".repeat(220) })];
    const { value } = await instance.key({ scopes: ["read"], projects: ["default"] });
    const reader = apiClient(url, value);
    for (const id of ids) {
      const { body: step } = await admin("GET", `/runs/${id}?step_id=callback`);
      const mac = (step.steps[0].event_url as string).split(".").at(-1)!;
      const path = `/runs/${id}/compare?with=${before}`;
      const shown = JSON.stringify((await admin("GET", path)).body.steps[0].output);
      const hidden = JSON.stringify((await reader("GET", path)).body.steps[0].output);
      expect(shown).toContain(mac.slice(0, 3));
      expect(hidden).not.toContain(mac.slice(0, 3));
      expect(hidden).toContain("***");
    }
  });

  it("answers for a run that the caller can't read as for one that does not exist, on both sides", async () => {
    const { instance, url, create, run } = await open();
    const own = await run(await create("default", false));
    const other = await run(await create("finance", false));
    const third = await create("default", true);
    const ofThird = await run(third);
    const { value } = await instance.key({ scopes: ["read"], projects: ["default"] });
    const { value: limited } = await instance.key({ scopes: ["read"], limits: { workflows: [third] } });
    const codes: unknown[] = [];
    for (const [key, hidden, visible] of [
      [value, other, own],
      [limited, own, ofThird],
    ] as const) {
      const call = apiClient(url, key);
      const answers = [
        await call("GET", `/runs/${visible}/compare?with=${hidden}`),
        await call("GET", `/runs/${hidden}/compare?with=${visible}`),
      ];
      const unknown = await call("GET", `/runs/${visible}/compare?with=run_none`);
      codes.push(...answers.map(({ body }) => body.code as string));
      const { request_id: _, ...problem } = unknown.body as Record<string, unknown>;
      const { request_id: _id, ...found } = answers[0]!.body as Record<string, unknown>;
      expect(JSON.stringify(found).replaceAll(hidden, "run_none")).toBe(JSON.stringify(problem));
      expect((await call("GET", `/runs/${visible}/compare?with=${visible}`)).status).toBe(200);
    }
    expect(codes).toEqual(Array(4).fill("run_not_found"));
  });
});
