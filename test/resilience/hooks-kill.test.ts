/** Kills servers and executors while several senders repeat the same deliveries to several copies. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { expect, it, onTestFinished } from "vitest";
import { newStateDirectory } from "../support/directories.ts";
import { eventually } from "../support/eventually.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { type Program, startProgram } from "../support/process.ts";
import { seededRandom } from "../support/random.ts";
import { PROGRAM } from "../support/built.ts";

const SEED = Number(process.env["MILLRACE_TEST_SEED"] ?? Date.now() % 1_000_000_000);
const DELIVERIES = Number(process.env["MILLRACE_TEST_DELIVERIES"] ?? 80);
const SENDERS = 4;
const COPIES = 2;
const ROUNDS = 8;
const SECRET = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;
const DEFINITION = {
  inputs: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
  triggers: [
    {
      id: "orders",
      type: "webhook",
      signature: { scheme: "standard_webhooks", secret: "orders-hook" },
      payload: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      inputs: { n: "${{ event.body.n }}" },
    },
  ],
  steps: [{ id: "kept", type: "set", values: { n: "${{ inputs.n }}" } }],
  output: "${{ steps.kept.n }}",
};

it(
  `starts one run of each delivery that is acknowledged, whatever is killed (seed ${SEED})`,
  { timeout: 240_000 },
  async () => {
    const next = seededRandom(SEED);
    const stateDir = await newStateDirectory();
    const config = join(stateDir, "config.yaml");
    writeFileSync(
      config,
      JSON.stringify({ secrets: [{ name: "orders-hook", key_var: "ORDERS_HOOK", hosts: [] }] }),
    );
    const env = { MILLRACE_CONFIG: config, ORDERS_HOOK: SECRET };

    const servers: Program[] = [];
    const startServer = async (index: number): Promise<void> => {
      servers[index] = await startProgram("serve", stateDir, { args: ["--workers", "0"], env });
    };
    for (let index = 0; index < COPIES; index += 1) await startServer(index);
    const path = await publish(stateDir, servers[0]!.url);
    const workers = Array.from({ length: COPIES }, () => startWorker(stateDir, env));
    onTestFinished(() => void workers.map((worker) => worker.kill("SIGKILL")));

    const answers = new Map<number, Set<string>>();
    /** Sends a delivery until a copy acknowledges it, as senders do. */
    async function send(n: number): Promise<void> {
      const body = JSON.stringify({ n });
      for (;;) {
        const at = new Date();
        const headers = {
          "content-type": "application/json",
          "webhook-id": `msg_${n}`,
          "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
          "webhook-signature": new Webhook(SECRET).sign(`msg_${n}`, at, body),
        };
        const { url } = servers[Math.floor(next() * COPIES)]!;
        const answer = await fetch(url + path, { method: "POST", headers, body }).catch(() => undefined);
        const text = await answer?.text().catch(() => undefined);
        if (answer?.status === 202 && text !== undefined) {
          const { run_id: run } = JSON.parse(text) as { run_id: string };
          answers.set(n, (answers.get(n) ?? new Set()).add(run));
          return;
        }
        if (answer !== undefined && ![202, 429, 503].includes(answer.status))
          throw new Error(`a copy answered ${answer.status}`);
        await delay(20);
      }
    }
    const sender = async (): Promise<void> => {
      const numbers = Array.from({ length: DELIVERIES }, (_, n) => n).toSorted(() => next() - 0.5);
      for (const n of numbers) {
        await send(n);
        await delay(next() * 60);
      }
    };
    const sending = Promise.all(Array.from({ length: SENDERS }, sender));
    for (let round = 0; round < ROUNDS; round += 1) {
      await delay(next() * 600);
      const index = Math.floor(next() * COPIES);
      if (next() < 0.5) {
        await servers[index]!.stop("SIGKILL");
        await startServer(index);
      } else {
        const exited = once(workers[index]!, "exit");
        workers[index]!.kill("SIGKILL");
        await exited;
        workers[index] = startWorker(stateDir, env);
      }
    }
    await sending;

    const { read } = await testInstance({ stateDir });
    await eventually(
      async () => ((await read.runs.count({ status: ["succeeded"] })) === DELIVERIES ? true : undefined),
      "all runs to succeed",
      90_000,
    );
    expect([...answers.values()].map((runs) => runs.size)).toEqual(
      Array.from({ length: DELIVERIES }, () => 1),
    );
    const { items } = await read.runs.page({ filter: {}, after: null, limit: DELIVERIES * 2 });
    expect(items.map(({ id }) => id).toSorted()).toEqual(
      [...answers.values()].flatMap((runs) => Array.from(runs)).toSorted(),
    );
    const outputs = await Promise.all(items.map(({ id }) => read.runs.runOutput(id)));
    expect(new Set(outputs).size).toBe(DELIVERIES);
  },
);

/** Publishes the workflow. @returns the path of the URL of its trigger */
async function publish(stateDir: string, url: string): Promise<string> {
  const instance = await testInstance({ stateDir });
  const { value } = await instance.key({ scopes: ["read", "write", "publish"] });
  const call = apiClient(url, value);
  await call("POST", "/workflows", { name: "Orders", definition: DEFINITION });
  expect((await call("POST", "/workflows/orders/publish", {})).status).toBe(200);
  const { body } = await call("GET", "/workflows/orders/triggers");
  return new URL(body.items[0].url as string).pathname;
}

function startWorker(stateDir: string, env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [PROGRAM, "worker"], {
    env: { ...process.env, MILLRACE_STATE_DIR: stateDir, ...env },
    stdio: "ignore",
  });
}
