import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeShop } from "../../../examples/shop.ts";
import { Config } from "../../../schemas/config.ts";
import type { Run } from "../../../schemas/run.ts";
import type { SavedWorkflow } from "../../../schemas/workflow.ts";
import { startExecutor } from "../../../src/app/executor.ts";
import { openServices } from "../../../src/app/services.ts";
import { OPERATOR_ACTOR } from "../../../src/commands/operator.ts";
import { readEnvironment } from "../../../src/config/environment.ts";
import type { AnyTool } from "../../../src/core/tool.ts";
import { invoke } from "../../../src/surfaces/invoke.ts";
import { BLANK_TEMPLATE, TEMPLATES } from "../../../src/web/workflows/templates.ts";
import { runWorkflow } from "../../../tools/runs/run-workflow.ts";
import { createWorkflow } from "../../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../../tools/workflows/publish-workflow.ts";
import { temporaryDirectory, testInstance } from "../../support/instance.ts";
import type { z } from "zod";
import { childProgram } from "../../support/child-program.ts";
import { sharedEngineThreads } from "../../support/engine-threads.ts";

/** Services with the sample database, and names for what the templates require, which is never called. */
async function startServices() {
  const directory = temporaryDirectory();
  makeShop(join(directory, "shop.db"));
  const config = Config.parse({
    databases: [{ name: "shop", type: "sqlite", dataset: join(directory, "shop.db") }],
    models: [
      { name: "writer", vendor: "openai-compatible", model_ref: "m-1", base_url: "http://127.0.0.1:9/v1" },
    ],
    secrets: [{ name: "team_hook", key_var: "TEAM_HOOK_TOKEN", hosts: ["hooks.example.com"] }],
    mail: { allowed_domains: ["example.com"] },
    authentication: {
      basic: {
        smtp_user: "m@example.com",
        smtp_password_var: "SMTP_PASSWORD",
        smtp_server: "127.0.0.1",
        smtp_port: 9,
      },
    },
  });
  const instance = await testInstance();
  const env = { MILLRACE_STATE_DIR: instance.stateDir, TEAM_HOOK_TOKEN: "t", SMTP_PASSWORD: "p" };
  const setup = {
    settings: readEnvironment(env),
    config,
    clock: instance.clock,
    threads: sharedEngineThreads(),
    childProgram: childProgram(),
  };
  const executor = await startExecutor(instance, setup, { id: "exe_1", slots: 4 });
  const { services, close } = openServices(instance, setup, {
    wake: () => executor.queue.wake(),
    onChanged: () => {},
  });
  onTestFinished(async () => {
    await executor.stop(0);
    await close();
  });
  const signal = new AbortController().signal;
  return async <T>(tool: AnyTool, input: object): Promise<T> =>
    (await invoke(services, tool, input, { actor: OPERATOR_ACTOR, requestId: "req_1", signal })) as T;
}

describe("workflow templates", () => {
  it("are valid, can be published, and run if they require nothing else", async () => {
    const call = await startServices();
    const statuses: Record<string, unknown> = {};
    for (const { id, name, description, tags, definition, needs } of [
      { ...BLANK_TEMPLATE, name: "Blank" },
      ...TEMPLATES,
    ]) {
      const saved = await call<z.infer<typeof SavedWorkflow>>(createWorkflow, {
        name,
        description,
        tags,
        definition,
      });
      expect({ id, issues: saved.issues, warnings: saved.warnings }).toEqual({ id, issues: [] });
      await call(publishWorkflow, { workflow_id: saved.id });
      if (needs !== "") continue;
      statuses[id] = (await call<Run>(runWorkflow, { workflow_id: saved.id, wait: 20 })).status;
    }
    expect(statuses).toEqual({
      blank: "succeeded",
      query: "succeeded",
      schedule: "succeeded",
      approval: "waiting",
      "side-by-side": "succeeded",
    });
  });

  it("have unique ids and names, a description and tags", () => {
    expect(new Set(TEMPLATES.map(({ id }) => id)).size).toBe(TEMPLATES.length);
    expect(new Set(TEMPLATES.map(({ name }) => name)).size).toBe(TEMPLATES.length);
    expect(TEMPLATES.every(({ description, tags }) => description !== "" && tags.length > 0)).toBe(true);
  });
});
