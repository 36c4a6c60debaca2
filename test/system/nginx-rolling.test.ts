/** A rolling restart of the copies under load, which clients do not notice. */
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Replica, startDeployment, type Deployment } from "../support/deployment.ts";
import { apiClient } from "../support/http.ts";
import { type Load, lostOrRepeated, SSE_CLIENTS, startLoad } from "../support/constant-load.ts";
import { openHttpsEventStream } from "../support/https.ts";

const ROUNDS = 2;

/** Follows the events of a run, and continues after the last one when the stream ends. */
async function follower({ url, key }: Deployment, load: Load, run: string): Promise<void> {
  let seen: string | undefined;
  while (load.running) {
    const last: Record<string, string> = seen === undefined ? {} : { "Last-Event-ID": seen };
    const events = await openHttpsEventStream(`${url}/runs/${run}/events`, { "X-API-Key": key, ...last });
    await Promise.race([events.closed, stopped(load)]);
    seen = [...events.text().matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? seen;
    if (load.running) load.reopened["events"] = (load.reopened["events"] ?? 0) + 1;
    events.close();
  }
}

async function stopped(load: Load): Promise<void> {
  while (load.running) await delay(50);
}

/** Number of requests to a copy in a period (ms since 1970). */
const askedAfter = ({ nginx }: Deployment, { port }: Replica, from: number, to: number): number =>
  nginx.accessLog().filter(({ copy, time }) => {
    const at = Date.parse(time);
    return copy.endsWith(`:${port}`) && at > from && at < to;
  }).length;

describe("copies behind nginx", () => {
  it("restart under load without a failed or repeated request", { timeout: 400_000 }, async () => {
    const deployment = await startDeployment();
    const { url, key, replicas } = deployment;
    const call = apiClient(url, key);
    const definition = { steps: [{ id: "pause", type: "wait", for: "1h" }] };
    expect((await call("POST", "/workflows", { name: "long", description: "", definition })).status).toBe(
      201,
    );
    const { body: run } = await call("POST", "/workflows/long/runs", {});

    const { load, stop } = await startLoad({ url, mcpUrl: url, key });
    const following = follower(deployment, load, run.id as string);
    const late: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      // One copy of each server, then the other, without a pause: the worst case.
      for (const pair of [
        [replicas[0]!, replicas[2]!],
        [replicas[1]!, replicas[3]!],
      ]) {
        const from = Date.now();
        await Promise.all(pair.map((copy) => copy.restart()));
        // Between 3 s and 10 s after SIGTERM nginx sends it no requests.
        for (const copy of pair) late.push(askedAfter(deployment, copy, from + 3_000, from + 10_000));
      }
    }
    await stop();
    await following;

    const requests = Object.values(load.done).reduce((sum, count) => sum + count, 0);
    console.info({ requests, ...load.done, streams_reopened: load.reopened, late });
    expect(load.failed).toEqual([]);
    expect(load.reopened["sse"] ?? 0).toBeLessThanOrEqual(2 * ROUNDS * SSE_CLIENTS);
    expect(requests).toBeGreaterThan(1_000);
    expect(await lostOrRepeated(load, call)).toEqual([]);
    expect((await call("GET", "/workflows")).body).toHaveLength(load.made.length + 1);
    // The first pair stops while all copies are healthy; later ones may stop while nginx still avoids the other.
    expect(late.slice(0, 2)).toEqual([0, 0]);
    const errors = deployment.nginx.errorLog();
    expect(errors).not.toMatch(/no live upstreams/);
    // Clients open some connections in advance. A request fails that is sent on one when nginx closes it.
    expect(errors.match(/timed out .* while waiting for request/g) ?? []).toEqual([]);
  });
});
