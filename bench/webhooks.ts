/** Webhooks: the time of one sender, and of four at once, until the 202 of a signed delivery, which is recorded durably by then. */
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
/** Deliveries: a trigger takes 600 in a minute, and the triggers of an owner 1,200. Each number of senders has a trigger of its own. */
const COUNTS = { warmUp: 100, measured: 450 };
const SENDERS = [1, 4];
/** Of about 2 KB, as many senders' are. */
const BODY = JSON.stringify({ ref: "refs/heads/main", commits: "x".repeat(2_000) });
const SIGNATURE = `sha256=${createHmac("sha256", SECRET).update(BODY).digest("hex")}`;

const DEFINITION = {
  inputs: { type: "object", properties: { ref: { type: "string" } }, required: ["ref"] },
  triggers: SENDERS.map((senders) => ({
    id: `senders_${senders}`,
    type: "webhook",
    signature: { scheme: "github", secret: "bench-hook" },
    payload: { type: "object", properties: { ref: { type: "string" } }, required: ["ref"] },
    inputs: { ref: "${{ event.body.ref }}" },
    // The signature is over the body, which is the same here.
    deduplicate: 'event.headers["x-github-delivery"]',
  })),
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
  const agent = new Agent({ keepAlive: true });
  try {
    const paths = await publish(millrace, seed.key);
    const commits = [commitsPerSecond(directory)];
    const measured = [];
    for (const [index, senders] of SENDERS.entries()) {
      const path = paths[index]!;
      measured.push({
        senders,
        baseline: await sendAll(agent, senders, { program: bare, path, status: 200 }),
        times: await sendAll(agent, senders, { program: millrace, path, status: 202 }),
      });
    }
    commits.push(commitsPerSecond(directory));
    const transaction = 1_000 / median(commits);
    return {
      rows: measured.map(({ senders, baseline, times }) => {
        const p99 = percentile(times, 0.99);
        return {
          label: `202 of a signed delivery, ${namesOf(senders)}, p99`,
          value: `${milliseconds(p99)} (p50 ${milliseconds(percentile(times, 0.5))})`,
          baseline: `${milliseconds(percentile(baseline, 0.5) + transaction)} node:http and one transaction`,
          goal: `< ${GOAL_MS} ms`,
          goalMet: p99 < GOAL_MS,
        };
      }),
      details: table(
        ["target", "p50", "p99"],
        [
          ...measured.flatMap(({ senders, baseline, times }) => [
            [`Millrace, ${namesOf(senders)}`, ...percentilesOf(times)],
            [`node:http, ${namesOf(senders)}`, ...percentilesOf(baseline)],
          ]),
          ["a transaction of one row", milliseconds(transaction), ""],
        ],
      ),
    };
  } finally {
    agent.destroy();
    await Promise.all([millrace.stop(), bare.stop()]);
  }
}

/** Publishes the workflow. @returns the paths of the URLs of its triggers, in the order of `SENDERS` */
async function publish({ port }: Program, key: string): Promise<string[]> {
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
  return items.map(({ url }) => new URL(url).pathname);
}

interface Target {
  program: Program;
  path: string;
  status: number;
}

/**
 * Sends deliveries, each with an id of its own: each sender one after the other, all senders at the same time.
 * @returns the times until the answers, in milliseconds
 */
async function sendAll(agent: Agent, senders: number, target: Target): Promise<number[]> {
  const times: number[] = [];
  let sent = 0;
  const sendInTurn = async (): Promise<void> => {
    while (sent < COUNTS.warmUp + COUNTS.measured) {
      sent += 1;
      const isMeasured = sent > COUNTS.warmUp;
      const ms = await send(agent, target);
      if (isMeasured) times.push(ms);
    }
  };
  await Promise.all(Array.from({ length: senders }, sendInTurn));
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

const namesOf = (senders: number): string => (senders === 1 ? "one sender" : `${senders} senders at once`);

const percentilesOf = (times: readonly number[]): string[] =>
  [0.5, 0.99].map((share) => milliseconds(percentile(times, share)));

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)]!;
