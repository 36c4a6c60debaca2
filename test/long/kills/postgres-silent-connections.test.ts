/** Connections to PostgreSQL whose packets are dropped: nothing arrives, and nothing is closed. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Postgres, startPostgres } from "../../support/postgres.ts";
import { EXECUTED_ONCE, proxiedInstallation, untilRecovered } from "../../support/proxied-installation.ts";

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres({ maxConnections: 200 });
});
afterAll(() => server.stop());

describe("an installation all of whose connections fall silent", () => {
  it("uses new ones, ends the runs in progress, and accepts others", async () => {
    const { proxy, url, effects, holdEffects, start, resultOf, expectNoRestart } = await proxiedInstallation(
      server,
      { workers: 2 },
    );
    const release = Promise.withResolvers<void>();
    holdEffects(release.promise);
    const runs = await Promise.all([start(), start(), start(), start()]);
    await untilRecovered(() => expect(effects.size).toBe(runs.length));
    proxy.vanish();
    release.resolve();
    runs.push(await untilRecovered(start));
    await untilRecovered(async () => expect((await fetch(`${url}/health`)).status).toBe(200));
    for (const run of runs) expect(await resultOf(run)).toEqual(EXECUTED_ONCE);
    expectNoRestart();
  });

  it("uses new ones while it does nothing", async () => {
    const { proxy, url, start, resultOf, expectNoRestart } = await proxiedInstallation(server);
    expect(await resultOf(await start())).toEqual(EXECUTED_ONCE);
    proxy.vanish();
    await untilRecovered(async () => expect((await fetch(`${url}/health`)).status).toBe(200));
    expect(await resultOf(await untilRecovered(start))).toEqual(EXECUTED_ONCE);
    expectNoRestart();
  });
});
