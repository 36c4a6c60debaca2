/** Webhooks: the time of one sender until the 202 of a signed delivery, which is recorded durably by then. */
import { createHmac, randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { type Bench, copyState, type Result } from "./support/bench.ts";
import { commitsPerSecond } from "./support/disk.ts";
import { type Program, startMillrace, startProgram } from "./support/program.ts";
import { median, milliseconds, table } from "./support/table.ts";

const GOAL_MS = 50;
const SECRET = "a secret of the bench";
/** Deliveries: a trigger takes 600 in a minute. */
const COUNTS = { warmUp: 100, measured: 450 };
/** Of about 2 KB, as many senders' are. */
const BODY = JSON.stringify({ ref: "refs/heads/main", commits: "x".repeat(2_000) });
const SIGNATURE = `sha256=${createHmac("sha256", SECRET).update(BODY).digest("hex")}`;

const DEFINITION = {
  inputs: { type: "object", properties: { ref: { type: "string" } }, required: ["ref"] },
  triggers: [
    {
      id: "pushed",
      type: "webhook",
      signature: { scheme: "github", secret: "bench-hook" },
      payload: { type: "object", properties: { ref: { type: "string" } }, required: ["ref"] },
      inputs: { ref: "${{ event.body.ref }}" },
    },
  ],
  steps: [{ id: "kept", type: "set", values: { ref: "${{ inputs.ref }}" } }],
};

export async function webhooks({ directory, seed }: Bench): Promise<Result> {
  const stateDir = copyState(seed, directory, "webhooks");
  writeFileSync(
    join(stateDir, "config.yaml"),
    JSON.stringify({ secrets: [{ name: "bench-hook", key_var: "BENCH_HOOK", hosts: [] }] }),
  );
  const millrace = await startMillrace("serve", stateDir, { BENCH_HOOK: SECRET });
  const answerFile = join(directory, "answer.json");
  writeFileSync(answerFile, JSON.stringify({ delivery_id: randomUUID(), run_id: randomUUID() }));
  const bare = await startProgram(new URL("baselines/bare.ts", import.meta.url), [answerFile], {
    log: join(directory, "bare.log"),
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    const path = await publish(millrace, seed.key);
    const commits = [commitsPerSecond(directory)];
    const baseline = await sendInTurn(agent, { program: bare, path, status: 200 });
    const measured = await sendInTurn(agent, { program: millrace, path, status: 202 });
    commits.push(commitsPerSecond(directory));
    const [p50, p99] = [percentile(measured, 0.5), percentile(measured, 0.99)];
    const floor = percentile(baseline, 0.5) + 1_000 / median(commits);
    return {
      rows: [
        {
          label: "202 of a signed delivery, one sender, p99",
          value: milliseconds(p99),
          baseline: `${milliseconds(floor)} node:http and one transaction`,
          goal: `< ${GOAL_MS} ms`,
          goalMet: p99 < GOAL_MS,
        },
      ],
      details: table(
        ["target", "p50", "p99"],
        [
          ["Millrace", milliseconds(p50), milliseconds(p99)],
          ["node:http", milliseconds(percentile(baseline, 0.5)), milliseconds(percentile(baseline, 0.99))],
          ["a transaction of one row", milliseconds(1_000 / median(commits)), ""],
        ],
      ),
    };
  } finally {
    agent.destroy();
    await Promise.all([millrace.stop(), bare.stop()]);
  }
}

/** Publishes the workflow. @returns the path of the trigger's URL */
async function publish({ port }: Program, key: string): Promise<string> {
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { "X-API-Key": key, "Content-Type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const answer = (await response.json()) as T;
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  };
  const workflow = { name: "On push", definition: DEFINITION };
  const { id } = await call<{ id: string }>("POST", "/workflows", workflow);
  await call("POST", `/workflows/${id}/publish`, {});
  const { items } = await call<{ items: { url: string }[] }>("GET", `/workflows/${id}/triggers`);
  return new URL(items[0]!.url).pathname;
}

interface Target {
  program: Program;
  path: string;
  status: number;
}

/** Sends one delivery after the other, each with an id of its own. @returns the times until the answers, in milliseconds */
async function sendInTurn(agent: Agent, target: Target): Promise<number[]> {
  const times: number[] = [];
  for (let number = 0; number < COUNTS.warmUp + COUNTS.measured; number += 1) {
    const ms = await send(agent, target);
    if (number >= COUNTS.warmUp) times.push(ms);
  }
  return times;
}

function send(agent: Agent, { program, path, status }: Target): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(BODY),
      "X-GitHub-Delivery": randomUUID(),
      "X-GitHub-Event": "push",
      "X-Hub-Signature-256": SIGNATURE,
    };
    const start = performance.now();
    const options = { agent, host: "127.0.0.1", port: program.port, path, method: "POST", headers };
    request(options, (response) => {
      response.resume().on("end", () => {
        if (response.statusCode === status) resolve(performance.now() - start);
        else reject(new Error(`a delivery was answered with ${response.statusCode}`));
      });
    })
      .on("error", reject)
      .end(BODY);
  });
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)]!;
