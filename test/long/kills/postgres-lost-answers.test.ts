/** Connections to PostgreSQL that break at a COMMIT: the client can't know from them whether the transaction was committed. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Action, Statement } from "../../support/postgres-proxy.ts";
import { type Postgres, startPostgres } from "../../support/postgres.ts";
import { EXECUTED_ONCE, proxiedInstallation, untilRecovered } from "../../support/proxied-installation.ts";

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres({ maxConnections: 200 });
});
afterAll(() => server.stop());

/** Before and after the server has committed. */
const BREAKS = ["cut", "cutAnswer"] as const satisfies Action[];

type Query = Statement["transaction"][number];

const isClaim = ({ sql, parameters }: Query): boolean =>
  sql.startsWith('update "jobs"') && parameters.includes("claimed");
const isSuccess =
  (statement: string) =>
  ({ sql, parameters }: Query): boolean =>
    sql.startsWith(statement) && parameters.includes("succeeded");
const isNewRun = ({ sql }: Query): boolean => sql.startsWith('insert into "runs"');

/** Whether a statement commits a transaction with such statements. */
const commits =
  (...kinds: ((query: Query) => boolean)[]) =>
  ({ sql, transaction }: Statement): boolean =>
    sql === "commit" && kinds.every((kind) => transaction.some(kind));

const WRITES: Readonly<Record<string, (statement: Statement) => boolean>> = {
  "a claim": commits(isClaim),
  "the result of a step": commits(isSuccess('insert into "run_attempts"')),
  "the end of a run": commits(isSuccess('update "runs"')),
};

describe("an executor whose connection breaks at the COMMIT", () => {
  it.each(Object.keys(WRITES).flatMap((write) => BREAKS.map((action) => [write, action] as const)))(
    "of %s (%s) ends the run, and executes each step once",
    async (write, action) => {
      const { proxy, start, resultOf, expectNoRestart } = await proxiedInstallation(server);
      const disturbed = proxy.disturb(action, WRITES[write]!);
      const run = await start();
      await untilRecovered(() => disturbed);
      expect(await resultOf(run)).toEqual(EXECUTED_ONCE);
      // The executor has no claim left that it does not know.
      expect(await resultOf(await start())).toEqual(EXECUTED_ONCE);
      expectNoRestart();
    },
  );
});

const KEYS = [
  ["without an Idempotency-Key", undefined],
  ["with an Idempotency-Key", "once-1"],
] as const;

describe.each(KEYS)("a request %s whose connection breaks at the COMMIT of its run", (_, key) => {
  it.each(BREAKS)("(%s) is answered with the run, which exists once", async (action) => {
    const { proxy, call, workflow, resultOf, expectNoRestart } = await proxiedInstallation(server);
    const headers: Record<string, string> = key === undefined ? {} : { "Idempotency-Key": key };
    const start = () => call<{ id: string }>("POST", `/workflows/${workflow}/runs`, {}, headers);
    const disturbed = proxy.disturb(action, commits(isNewRun));
    const answer = await start();
    await disturbed;
    expect([answer.status, answer.body]).toEqual([
      202,
      expect.objectContaining({ id: expect.stringMatching(/^run_/) as string }),
    ]);
    const { id } = answer.body;
    expect(await resultOf(id)).toEqual(EXECUTED_ONCE);
    const repeated = key === undefined ? answer : await start();
    expect(repeated.body.id).toBe(id);
    const { body: runs } = await call<{ id: string }[]>("GET", "/runs");
    expect(runs.map((run) => run.id)).toEqual([id]);
    expectNoRestart();
  });
});
