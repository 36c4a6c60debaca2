/**
 * Runs example workflows against real peers on loopback: an HTTP server, a model, a mail server and databases. The clock
 * is manual, so waits, pauses and retries take no time.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import type { z } from "zod";
import { makeShop } from "../../examples/shop.ts";
import { Config } from "../../schemas/config.ts";
import type { Run } from "../../schemas/run.ts";
import type { SavedWorkflow } from "../../schemas/workflow.ts";
import { startExecutor } from "../../src/app/executor.ts";
import { openServices } from "../../src/app/services.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { iso } from "../../src/core/clock.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { type FakeClock, fakeClock, temporaryDirectory, testInstance } from "./instance.ts";
import { mockHttpServer, type ReceivedRequest, sendJson } from "./mock-http-server.ts";
import { WIRE_FORMATS } from "./mock-model-server.ts";
import { smtpPeer } from "./mock-smtp-server.ts";
import { repeatBy } from "./clock.ts";
import { callOf } from "./call-context.ts";
import { childProgram } from "./child-program.ts";
import { sharedEngineThreads } from "./engine-threads.ts";

/** The folder of the examples that show everyday work. */
const EVERYDAY_FOLDER = fileURLToPath(new URL("../../examples/everyday/", import.meta.url));

/** The ids of these examples, which are the names of their files. */
export const everydayExamples = (): string[] =>
  readdirSync(EVERYDAY_FOLDER)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => name.replace(/\.yaml$/, ""))
    .toSorted();

/** The addresses in the examples, all of which the HTTP peer answers for. */
const EXAMPLE_HOSTS = /https:\/\/[a-z]+\.example\.com/g;

/** What the HTTP peer answers: a body, or a response with a status and headers. */
type Reply = { status: number; body?: unknown; headers?: Record<string, string> };

interface Peers {
  /** The clock of the peers, if they read it; by default a new one. */
  clock?: FakeClock;
  /** Answers requests to `https://….example.com`; a plain value is the body of a response with status 200. */
  http?: (request: ReceivedRequest & { json: unknown }) => Reply | { body: unknown };
  /** Answers the prompts of all models; throws a `Reply` to fail. */
  model?: (call: { model: string; prompt: string }) => string | Reply;
  /** Further configuration, such as databases or approvals. Paths are relative to `directory`. */
  config?: (directory: string) => z.input<typeof Config>;
  /** Further variables of the environment. */
  env?: Record<string, string>;
}

/** The names of the configured models, which the model peer receives as `model`. */
const MODELS = ["writer", "judge", "backup"];

/** Starts the peers, an executor and the operations, which all end with the test. */
export async function exampleEnvironment(peers: Peers = {}) {
  const directory = temporaryDirectory();
  makeShop(join(directory, "shop.db"));
  const http = await mockHttpServer((request, response) => {
    const json: unknown = request.body === "" ? null : JSON.parse(request.body);
    const reply = peers.http?.({ ...request, json }) ?? { body: {} };
    const { status, headers } = { status: 200, headers: {}, ...reply };
    sendJson(response, reply.body ?? null, status, headers);
  });
  const prompts: { model: string; prompt: string }[] = [];
  const wire = WIRE_FORMATS["openai-compatible"];
  const model = await mockHttpServer(({ body }, response) => {
    const call = JSON.parse(body) as { model: string; messages: { content: string }[] };
    const prompt = { model: call.model, prompt: call.messages.at(-1)!.content };
    prompts.push(prompt);
    const answer = peers.model?.(prompt) ?? "";
    if (typeof answer === "string") sendJson(response, wire.answer(answer, "stop"));
    else sendJson(response, wire.error("No.", "some_code"), answer.status, answer.headers);
  });
  const smtp = await smtpPeer();
  const { clock = fakeClock() } = peers;
  const given = peers.config?.(directory) ?? {};
  const config = Config.parse({
    models: MODELS.map((name) => ({
      name,
      vendor: "openai-compatible",
      model_ref: name,
      base_url: model.url + wire.base,
    })),
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
    ...given,
    databases: [
      { name: "shop", type: "sqlite", dataset: join(directory, "shop.db") },
      ...(given.databases ?? []),
    ],
    secrets: [
      { name: "api_token", key_var: "API_TOKEN", hosts: [http.host] },
      { name: "slack_alerts", key_var: "SLACK_ALERTS_URL", hosts: [http.host] },
      ...(given.secrets ?? []),
    ],
    http: { allowed_hosts: [http.host] },
  });
  const instance = await testInstance({ clock });
  const env = {
    MILLRACE_STATE_DIR: instance.stateDir,
    SMTP_PASSWORD: "p",
    API_TOKEN: "secret-token",
    ...peers.env,
    SLACK_ALERTS_URL: `${http.url}/services/T00/B00/alerts`,
  };
  const setup = {
    settings: readEnvironment(env),
    config,
    clock,
    threads: sharedEngineThreads(),
    childProgram: childProgram(),
    repeat: repeatBy(clock),
  };
  let executor = await startExecutor(instance, setup, { id: "exe_1", slots: 16 });
  let executors = 1;
  const { services, close } = openServices(instance, setup, {
    wake: () => executor.queue.wake(),
    onChanged: () => {},
  });
  onTestFinished(async () => {
    await executor.stop(0);
    await close();
  });
  const { signal } = new AbortController();
  /** Runs an operation as the operator. */
  const call = async <T>(tool: AnyTool, input: object): Promise<T> =>
    (await invoke(services, tool, input, { actor: OPERATOR_ACTOR, requestId: "req_1", signal })) as T;

  const settle = async (): Promise<void> => {
    executor.queue.wake();
    await executor.queue.waitUntilIdle();
  };

  /** Checks a file against the peers, saves and publishes it. @returns the id of the workflow */
  async function publish(name: string): Promise<string> {
    const file = join(EVERYDAY_FOLDER, `${name}.yaml`);
    const text = readFileSync(file, "utf8").replaceAll(EXAMPLE_HOSTS, http.url);
    const report = await services.engine.check(text, {
      checkConnections: true,
      allowFileFields: true,
      project: "default",
      ...callOf(signal),
    });
    expect({ name, errors: report.errors }).toEqual({ name, errors: [] });
    const { id, ...fields } = report.file;
    expect(id).toBe(name);
    const { definition } = report;
    const saved = await call<z.infer<typeof SavedWorkflow>>(createWorkflow, { ...fields, definition });
    // The id of a new workflow is made from its name.
    expect(saved.id).toBe(name);
    await call(publishWorkflow, { workflow_id: saved.id });
    return saved.id;
  }

  /**
   * Lets a run continue until it has ended. Whenever nothing is left to do now, it calls `onIdle`; where that returns
   * false or is left out, it advances the clock to the next job that is due.
   */
  async function ended(id: string, onIdle?: (run: Run) => Promise<boolean>): Promise<Run> {
    for (;;) {
      await settle();
      const run = await call<Run>(getRun, { run_id: id, detail: "steps" });
      // The operation shortens large outputs.
      if (run.finished_at !== null) return { ...run, output: await instance.read.runs.runOutput(id) };
      if ((await onIdle?.(run)) === true) continue;
      const dueAt = await instance.read.jobs.nextDueAt(iso(clock.now()));
      if (dueAt === null) throw new Error(`${id} can't continue: ${JSON.stringify(run.steps)}`);
      clock.advance(Math.max(0, Date.parse(dueAt) - clock.now()));
    }
  }

  /** Ends the executor, and starts another one. */
  async function restart(): Promise<void> {
    await executor.stop(0);
    executor = await startExecutor(instance, setup, { id: `exe_${(executors += 1)}`, slots: 16 });
  }

  return {
    directory,
    clock,
    /** Starts a listener. @returns its URL */
    listen: async (): Promise<string> => (await instance.rest({ config, env })).url,
    instance,
    services,
    get executor() {
      return executor;
    },
    restart,
    call,
    publish,
    ended,
    settle,
    /** The URL of the HTTP peer. */
    url: http.url,
    /** The requests that the HTTP peer has received. */
    requests: http.received,
    prompts,
    /** The raw text of the mails that were sent. */
    mails: smtp.received,
    /** Starts a run and lets it continue until it has ended, see `ended`. */
    async run(
      id: string,
      inputs: Record<string, unknown> = {},
      onIdle?: (run: Run) => Promise<boolean>,
    ): Promise<Run> {
      const { id: runId } = await call<Run>(runWorkflow, { workflow_id: id, inputs, wait: 0 });
      return ended(runId, onIdle);
    },
  };
}

export type ExampleEnvironment = Awaited<ReturnType<typeof exampleEnvironment>>;
