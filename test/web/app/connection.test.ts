import { describe, expect, it } from "vitest";
import { searchesOf, searchWordsOf } from "../../../src/web/app/near-matches.ts";
import { createConnection } from "../../../src/web/app/connection.ts";

/** A server whose answers the test decides, and a clock that it sets. */
function harness() {
  const timers: (() => void)[] = [];
  const events: boolean[] = [];
  const server = { answers: true, asked: 0, now: 1_000 };
  const connection = createConnection({
    ask: () => {
      server.asked += 1;
      return server.answers ? Promise.resolve(true) : Promise.reject(new TypeError("Failed to fetch"));
    },
    now: () => server.now,
    setTimeout: (callback) => timers.push(callback),
    onChange: (isOnline) => events.push(isOnline),
  });
  return { connection, server, timers, events };
}

describe("the connection to the server", () => {
  it("is lost since its last answer, and asks until it is back", async () => {
    const { connection, server, timers, events } = harness();
    connection.reportAnswer();
    Object.assign(server, { now: 9_000, answers: false });
    expect(await connection.probe()).toBe(false);
    expect(connection.getState()).toEqual({ lostSince: 1_000 });
    const back = connection.untilBack();
    timers.shift()!();
    expect(await connection.probe()).toBe(false);
    server.answers = true;
    timers.shift()!();
    await back;
    expect(connection.getState()).toEqual({ lostSince: null });
    expect(events).toEqual([false, true]);
    expect(timers).toEqual([]);
  });

  it("asks once for all that report a failure at the same time", async () => {
    const { connection, server } = harness();
    expect(await Promise.all([connection.probe(), connection.probe(), connection.probe()])).toEqual([
      true,
      true,
      true,
    ]);
    expect(server.asked).toBe(1);
  });

  it("is back at the answer to any request", async () => {
    const { connection, server, events } = harness();
    server.answers = false;
    await connection.probe();
    connection.reportAnswer();
    await connection.untilBack();
    expect(events).toEqual([false, true]);
  });
});

describe("an address that leads to nothing", () => {
  it("is searched for by the words of its last part, and then by their beginnings", () => {
    const words = searchWordsOf("/workflows/weekly-revenu_reprot/");
    expect(words).toEqual(["weekly", "revenu", "reprot"]);
    expect(searchesOf(words)).toEqual(["weekly revenu reprot", "week reve repr", "week"]);
    expect(searchesOf(searchWordsOf("/"))).toEqual([]);
  });
});
