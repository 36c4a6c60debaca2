import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeShop } from "../../examples/shop.ts";
import { Config } from "../../schemas/config.ts";
import type { Run } from "../../schemas/run.ts";
import type { SavedWorkflow } from "../../schemas/workflow.ts";
import { startExecutor } from "../../src/app/executor.ts";
import { openServices } from "../../src/app/services.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { stepTypes } from "../../src/steps/index.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import { decideApproval } from "../../tools/approvals/decide-approval.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { mockHttpServer, type ReceivedRequest, sendJson } from "../support/mock-http-server.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { mockModelServer, WIRE_FORMATS } from "../support/mock-model-server.ts";
import { smtpPeer } from "../support/mock-smtp-server.ts";
import type { z } from "zod";
import { callOf } from "../support/call-context.ts";
import { childProgram } from "../support/child-program.ts";
import { sharedEngineThreads } from "../support/engine-threads.ts";

const FOLDER = fileURLToPath(new URL("../../examples/", import.meta.url));
const TICKETS = fileURLToPath(new URL("../support/tickets-mcp-server.ts", import.meta.url));
/** The only address in the examples, which a test server replaces. */
const HOOKS = "https://hooks.example.com";

const filesOf = (folder: string): string[] =>
  readdirSync(join(FOLDER, folder))
    .filter((name) => name.endsWith(".yaml"))
    .toSorted()
    .map((name) => join(folder, name));
const SAMPLES = filesOf("samples");
const STEPS = filesOf("steps");
const idOf = (file: string): string => /^id: (\S+)$/m.exec(readFileSync(join(FOLDER, file), "utf8"))![1]!;

/** The output of each example with its default inputs. */
const OUTPUTS: Readonly<Record<string, unknown>> = {
  "lost-customers": {
    count: 14,
    customers: expect.arrayContaining([expect.objectContaining({ customer: "Hill Gallery" })]),
  },
  "plan-and-sales": { month: "2026-06", behind: ["coffee"], categories: expect.any(Array) },
  "revenue-in-words": '{"mood":"bad","about":"cups"}',
  "weekly-revenue": expect.objectContaining({ best_region: "north", total: 2333.6 }),
  "example-approval": "250 from travel",
  "example-assert": true,
  "example-email": ["team@example.com"],
  "example-http": { ok: true },
  "example-model": { mood: "bad", about: "cups" },
  "example-set": { text: "2 cheap, 1 dear", average: expect.closeTo(9.867, 3) },
  "example-sql": expect.arrayContaining([{ name: "Earl Grey, 100 g", price: 6.9 }]),
  "example-tool": { id: "T-17", status: "open" },
  "example-wait": expect.stringMatching(/^\d{4}-.*Z$/),
  "example-workflow": [expect.any(Number), 2333.6],
};

/** An instance with an executor, and test servers for everything that the examples call. */
async function setUp() {
  const directory = temporaryDirectory();
  makeShop(join(directory, "shop.db"));
  const hooks: ReceivedRequest[] = [];
  const hook = await mockHttpServer((request, response) => {
    hooks.push(request);
    sendJson(response, { ok: true });
  });
  const model = await mockModelServer("openai-compatible", { text: '{"mood":"bad","about":"cups"}' });
  const smtp = await smtpPeer();
  const config = Config.parse({
    databases: [{ name: "shop", type: "sqlite", dataset: join(directory, "shop.db") }],
    models: [
      {
        name: "writer",
        vendor: "openai-compatible",
        model_ref: "m-1",
        base_url: model.url + WIRE_FORMATS["openai-compatible"].base,
      },
    ],
    mcp_servers: [{ name: "tickets", command: process.execPath, args: [TICKETS] }],
    secrets: [{ name: "team_hook", key_var: "TEAM_HOOK_TOKEN", hosts: [hook.host] }],
    http: { allowed_hosts: [hook.host] },
    mail: { allowed_domains: ["example.com"] },
    authentication: {
      basic: {
        smtp_user: "m@example.com",
        smtp_password_var: "SMTP_PASSWORD",
        smtp_server: "127.0.0.1",
        smtp_port: smtp.port,
      },
    },
    approvals: { by_starter: true },
  });
  const instance = await testInstance();
  const env = { MILLRACE_STATE_DIR: instance.stateDir, TEAM_HOOK_TOKEN: "hook-secret", SMTP_PASSWORD: "p" };
  const setup = {
    settings: readEnvironment(env),
    config,
    clock: instance.clock,
    threads: sharedEngineThreads(),
    childProgram: childProgram(),
  };
  const executor = await startExecutor(instance, setup, { id: "exe_1", slots: 16 });
  const { services, close } = openServices(instance, setup, {
    wake: () => executor.queue.wake(),
    onChanged: () => {},
  });
  onTestFinished(async () => {
    await executor.stop(0);
    await close();
  });
  const signal = new AbortController().signal;
  const call = async <T>(tool: AnyTool, input: object): Promise<T> =>
    (await invoke(services, tool, input, { actor: OPERATOR_ACTOR, requestId: "req_1", signal })) as T;

  return {
    call,
    hooks,
    mails: smtp.received,
    async publish(file: string): Promise<void> {
      const text = readFileSync(join(FOLDER, file), "utf8").replaceAll(HOOKS, hook.url);
      const report = await services.engine.check(text, {
        checkConnections: true,
        allowFileFields: true,
        project: "default",
        ...callOf(signal),
      });
      expect({ file, errors: report.errors }).toEqual({ file, errors: [] });
      const { id, ...fields } = report.file;
      const saved = await call<z.infer<typeof SavedWorkflow>>(createWorkflow, {
        ...fields,
        definition: report.definition,
      });
      expect(saved.id).toBe(id);
      // Publishing runs its examples, which must have their expected outputs.
      await call(publishWorkflow, { workflow_id: saved.id });
    },
    async outputOf(id: string): Promise<unknown> {
      let run = await call<Run>(runWorkflow, { workflow_id: id, wait: 20 });
      const [approval] = run.approvals ?? [];
      if (approval !== undefined) {
        const form = { budget: "travel" };
        await call(decideApproval, { approval_id: approval.id, decision: "approve", form });
        run = await ended(run.id);
      }
      expect({ id, error: run.error }).toEqual({ id, error: null });
      return run.output;
    },
  };

  async function ended(id: string): Promise<Run> {
    for (;;) {
      const { seq } = (await instance.read.runs.find(id))!;
      const run = await call<Run>(getRun, { run_id: id });
      if (run.finished_at !== null) return run;
      await services.engine.waitForChange(id, seq, { ms: 10_000, signal });
    }
  }
}

describe("the examples", () => {
  it("cover each step type, and each has an expected output", () => {
    expect(STEPS).toEqual(stepTypes.map(({ type }) => join("steps", `${type}.yaml`)).toSorted());
    expect([...SAMPLES, ...STEPS].map(idOf).toSorted()).toEqual(Object.keys(OUTPUTS).toSorted());
  });

  it("can be published and run with the expected outputs", async () => {
    const { publish, outputOf, hooks, mails } = await setUp();
    // One of the examples runs another, which has to exist first.
    const files = [
      ...SAMPLES.toReversed().toSorted((a) => (idOf(a) === "weekly-revenue" ? -1 : 0)),
      ...STEPS,
    ];
    for (const file of files) await publish(file);
    const outputs = await Promise.all(files.map(async (file) => [idOf(file), await outputOf(idOf(file))]));
    expect(Object.fromEntries(outputs)).toEqual(OUTPUTS);
    expect(hooks).toMatchObject([
      { method: "POST", headers: { authorization: "Bearer hook-secret" }, body: '{"text":"Good morning"}' },
    ]);
    expect(mails).toEqual([expect.stringContaining("Subject: The morning report")]);
  });
});
