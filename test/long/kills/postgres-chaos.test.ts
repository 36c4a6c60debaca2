/** Random failures of the connections to PostgreSQL under load: no accepted run is lost, and none is executed twice. */
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { patiently } from "../../support/patience.ts";
import type { Action, PostgresProxy, Statement } from "../../support/postgres-proxy.ts";
import { freePort, type Postgres, startPostgres } from "../../support/postgres.ts";
import {
  EXECUTED_ONCE,
  type ProxiedInstallation,
  proxiedInstallation,
  untilRecovered,
} from "../../support/proxied-installation.ts";
import { caseCount, seededRandom, testSeed } from "../../support/random.ts";

const ROUNDS = caseCount(20, 200);
/** Limit for a test that hangs, in milliseconds. */
const TIMEOUT_MS = patiently(60 * 60_000);
/** Callers start one run at a time. */
const CALLERS = 4;
/** Seconds that a request waits for the end of its run. */
const WAIT_SECONDS = 5;
/** How long executors may miss heartbeats, in milliseconds: longer than the failures, so that none is reclaimed. */
const LEASE_MS = 60_000;
/** Up to this many statements pass before the one that is disturbed. */
const MAX_SKIPPED = 40;
/** Rounds after which the server notices that the peers of silent connections are gone. */
const EXPIRY_ROUNDS = 10;
/** Maximum number of reported runs. */
const SHOWN = 20;

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres({ maxConnections: 400 });
});
afterAll(() => server.stop());

type Random = () => number;
/** Disturbs the connections. @returns what ends it, after the installation has made progress */
type Failure = (proxy: PostgresProxy, random: Random) => Promise<() => void>;

const NOTHING = (): void => {};

/** Applies an action to one of the next statements, or to one of the next commits. */
async function disturbNext(proxy: PostgresProxy, random: Random, action: Action): Promise<void> {
  const matches = random() < 0.5 ? ({ sql }: Statement) => sql === "commit" : () => true;
  let skipped = Math.floor(random() * MAX_SKIPPED);
  await untilRecovered(() => proxy.disturb(action, (statement) => matches(statement) && skipped-- <= 0));
}

const FAILURES = {
  async reset(proxy) {
    proxy.resetAll();
    return NOTHING;
  },
  async cut(proxy, random) {
    await disturbNext(proxy, random, "cut");
    return NOTHING;
  },
  async cutAnswer(proxy, random) {
    await disturbNext(proxy, random, "cutAnswer");
    return NOTHING;
  },
  async holdAnswer(proxy, random) {
    const { promise, resolve } = Promise.withResolvers<void>();
    await disturbNext(proxy, random, { holdAnswerUntil: promise });
    return resolve;
  },
  async blackHole(proxy, random) {
    await disturbNext(proxy, random, "blackHole");
    return NOTHING;
  },
  async vanish(proxy) {
    proxy.vanish();
    return NOTHING;
  },
} satisfies Record<string, Failure>;

/** How often each happens. Silent connections take the longest to notice. */
const WEIGHTS: readonly [keyof typeof FAILURES, number][] = [
  ["reset", 5],
  ["cut", 8],
  ["cutAnswer", 8],
  ["holdAnswer", 4],
  ["blackHole", 2],
  ["vanish", 1],
];

function drawFailure(random: Random): keyof typeof FAILURES {
  const bag = WEIGHTS.flatMap(([name, weight]) => Array.from({ length: weight }, () => name));
  return bag[Math.floor(random() * bag.length)]!;
}

/** Starts runs one after the other until it is stopped. */
function startCallers({ call, workflow }: ProxiedInstallation) {
  const accepted = new Set<string>();
  const stopping = new AbortController();
  const isStopped = (): boolean => stopping.signal.aborted;
  let ended = 0;
  /** Requests without an Idempotency-Key that failed, so that their callers can't repeat them. */
  let unknown = 0;

  const request = async (headers: Record<string, string>): Promise<boolean> => {
    const path = `/workflows/${workflow}/runs`;
    const { status, body } = await call<{ id: string; status: string }>(
      "POST",
      path,
      { wait: WAIT_SECONDS },
      headers,
    );
    if (status === 503) return false;
    expect([status, body]).toEqual([expect.toBeOneOf([200, 202]), expect.anything()]);
    accepted.add(body.id);
    if (body.status === "succeeded") ended += 1;
    return true;
  };

  async function callWithKey(caller: number): Promise<void> {
    for (let count = 1; !isStopped(); count += 1)
      await untilRecovered(async () =>
        expect(await request({ "Idempotency-Key": `caller-${caller}-${count}` })).toBe(true),
      );
  }

  async function callWithoutKey(): Promise<void> {
    while (!isStopped()) if (!(await untilRecovered(() => request({})))) unknown += 1;
  }

  const calling = Promise.all(
    Array.from({ length: CALLERS }, (_, caller) =>
      caller % 2 === 0 ? callWithKey(caller) : callWithoutKey(),
    ),
  );
  // It is awaited at the end.
  calling.catch(() => {});
  return {
    accepted,
    /** Rejects when a caller gets an answer that it does not expect, or none. */
    calling,
    ended: () => ended,
    unknown: () => unknown,
    async stop() {
      stopping.abort();
      await calling;
    },
  };
}

/** The ids and statuses of runs. @param query narrows them */
async function listRuns({ call }: ProxiedInstallation, query = ""): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let path = `/runs?limit=200${query}`; path !== "";) {
    const { status, headers, body } = await call<{ id: string; status: string }[]>("GET", path);
    expect(status).toBe(200);
    for (const run of body) found.set(run.id, run.status);
    path = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1] ?? "";
  }
  return found;
}

describe("connections to PostgreSQL that fail at random", () => {
  it("lose no accepted run, and let none be executed twice", { timeout: TIMEOUT_MS }, async () => {
    const random = seededRandom(testSeed("postgres-chaos"));
    const startedAt = performance.now();
    const installation = await proxiedInstallation(server, {
      workers: 2,
      workerArgs: ["--lease", String(LEASE_MS)],
    });
    const { proxy, url, resultOf, expectNoRestart, command } = installation;
    const callers = startCallers(installation);
    const failures: string[] = [];
    try {
      for (let round = 1; round <= ROUNDS; round += 1) {
        const name = drawFailure(random);
        failures.push(name);
        const release = await FAILURES[name](proxy, random);
        const before = callers.ended();
        const progress = untilRecovered(() =>
          expect(callers.ended(), `ended runs after ${name} in round ${round}`).toBeGreaterThan(before),
        );
        await Promise.race([progress, callers.calling]);
        release();
        if (round % EXPIRY_ROUNDS === 0) proxy.expireBlackHoles();
      }
    } finally {
      proxy.onStatement(() => "pass");
      proxy.expireBlackHoles();
      await callers.stop().catch(() => {});
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      console.log(
        `postgres-chaos: ${failures.length} rounds, ${callers.accepted.size} runs, ${proxy.connectionCount()} connections in ${seconds} s; last: ${failures.slice(-5).join(", ")}`,
      );
    }
    await callers.stop();
    await untilRecovered(async () => {
      const unfinished = await listRuns(installation, "&status=queued&status=running&status=waiting");
      expect([...unfinished].slice(0, SHOWN)).toEqual([]);
    });
    const runs = [...(await listRuns(installation)).keys()];
    const wrong: object[] = [];
    for (const run of runs) {
      const result = await resultOf(run);
      if (!isDeepStrictEqual(result, EXECUTED_ONCE)) wrong.push({ run, ...result });
    }
    expect(wrong.slice(0, SHOWN)).toEqual([]);
    expect([...callers.accepted].filter((run) => !runs.includes(run))).toEqual([]);
    expect(runs.length).toBeLessThanOrEqual(callers.accepted.size + callers.unknown());
    expectNoRestart();
    const ports = ["--port", new URL(url).port, "--mcp-port", String(await freePort())];
    expect(await command("doctor", ...ports)).toMatchObject({ code: 0 });
  });
});
