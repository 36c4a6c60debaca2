import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { startCopies } from "../support/copies.ts";
import { eventually } from "../support/eventually.ts";
import { apiClient } from "../support/http.ts";
import { mockHttpServer, sendJson } from "../support/mock-http-server.ts";
import { startPostgresPair } from "../support/postgres-pair.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";

const CLIENTS = 4;
/** Runs that are acknowledged before the primary is killed, and after the standby has taken over. */
const RUNS = 20;
/** How long a condition may take, in milliseconds. */
const LIMIT_MS = 60_000;

describe("a primary that is killed while runs start and proceed", () => {
  it("loses no acknowledged run when a synchronous standby takes over", { timeout: 240_000 }, async () => {
    const { primary, standby } = await startPostgresPair();
    const proxy = await tcpProxy(primary.port);
    const keys = new Map<string, Set<string>>();
    const peer = await mockHttpServer(({ path, headers }, response) => {
      keys.set(path, (keys.get(path) ?? new Set()).add(String(headers["idempotency-key"])));
      setTimeout(() => sendJson(response, {}), 200);
    });
    const copies = await startCopies({
      count: 2,
      postgres: primary,
      databaseUrl: `postgresql://postgres@127.0.0.1:${proxy.port}/`,
      config: { http: { allowed_hosts: [peer.host] } },
      workerArgs: ["--lease", "2000"],
    });
    const apis = copies.web.map((url) => apiClient(url, copies.key));
    const { body: workflow } = await apis[0]!("POST", "/workflows", {
      name: "Call",
      definition: {
        inputs: { type: "object", properties: { n: { type: "integer" } } },
        steps: [
          {
            id: "call",
            type: "http",
            method: "POST",
            url: `${peer.url}/\${{ inputs.n }}`,
            retry: { attempts: 5, backoff: "fixed", initial: "100ms" },
          },
          { id: "wait", type: "wait", for: "300ms" },
          { id: "end", type: "set", values: { n: "${{ inputs.n + 1 }}" } },
        ],
        output: "${{ steps.end.n }}",
      },
    });
    expect(workflow.issues).toEqual([]);

    /** The run of each number, once it was acknowledged. */
    const acknowledged = new Map<number, string>();
    const state = { going: true };
    const refusals = new Set<number>();
    let newest = 0;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (state.going) {
        const n = (newest += 1);
        // Repeated through the failover, on both copies, until it is acknowledged.
        for (let attempt = 0; !acknowledged.has(n); attempt += 1) {
          const answer = await apis[attempt % 2]!(
            "POST",
            `/workflows/${workflow.id}/runs`,
            { inputs: { n } },
            { "Idempotency-Key": `run-${n}` },
          );
          if (answer.status === 202) acknowledged.set(n, answer.body.id as string);
          else refusals.add(answer.status);
          await delay(50);
        }
      }
    });
    const acknowledgedRuns = (count: number) =>
      eventually(() => acknowledged.size >= count || undefined, `${count} acknowledged runs`, LIMIT_MS);

    await acknowledgedRuns(RUNS);
    await primary.kill();
    const before = acknowledged.size;
    const killedAt = performance.now();
    const admin = await standby.connect();
    await admin.query("select pg_promote()");
    await admin.end();
    proxy.switchTo(standby.port);
    await acknowledgedRuns(before + CLIENTS + 1);
    const seconds = (performance.now() - killedAt) / 1_000;
    await acknowledgedRuns(before + RUNS);
    state.going = false;
    await Promise.all(clients);
    // Another request with the same key may still have been at work.
    expect([...refusals].filter((status) => ![409, 503].includes(status))).toEqual([]);

    for (const [n, id] of acknowledged) {
      const run = await eventually(
        async () => {
          const { status, body } = await apis[0]!("GET", `/runs/${id}`);
          expect([n, status]).toEqual([n, 200]);
          return body.finished_at === null ? undefined : body;
        },
        `the end of run ${n}`,
        LIMIT_MS,
      );
      expect([n, run.status, run.output, run.error]).toEqual([n, "succeeded", n + 1, null]);
      // A call that was repeated carried the same key.
      expect([n, keys.get(`/${n}`)?.size]).toEqual([n, 1]);
    }
    const { headers } = await apis[1]!("GET", "/runs?limit=1");
    expect(headers.get("x-total-count")).toBe(String(acknowledged.size));
    console.info({ acknowledged: acknowledged.size, before, seconds_until_the_next: seconds.toFixed(1) });
  });
});
