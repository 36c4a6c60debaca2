import { describe, expect, it } from "vitest";
import { MAX_SUBSCRIPTIONS, MAX_SUBSCRIPTIONS_PER_OWNER } from "../../src/core/mcp-subscription-port.ts";
import { mcpSessionStore } from "../../src/store/mcp-sessions.ts";
import { mcpSubscriptionStore } from "../../src/store/mcp-subscriptions.ts";
import { testStore } from "../support/store.ts";

async function open() {
  const { store, clock } = await testStore();
  const sessions = mcpSessionStore(store, clock);
  const start = async (id: string) =>
    sessions.insert({ id, keyId: "key_1", kind: "http", initialize: "{}", holder: null });
  await start("s1");
  const subscriptions = mcpSubscriptionStore(store);
  const subscribe = (uri: string, sessionId = "s1", owner = "ann") =>
    subscriptions.insert({ sessionId, uri, mark: "1" }, owner);
  return { sessions, subscriptions, start, subscribe };
}

describe("subscriptions of MCP sessions", () => {
  it("are those of their sessions, and begin at the newest mark", async () => {
    const { subscriptions, start, subscribe } = await open();
    await start("s2");
    await subscribe("millrace://runs/a");
    await subscribe("millrace://runs/a", "s2");
    await subscriptions.insert({ sessionId: "s1", uri: "millrace://runs/a", mark: "2" }, "ann");
    expect(await subscriptions.of(["s1"])).toEqual([
      { sessionId: "s1", uri: "millrace://runs/a", mark: "2" },
    ]);
    expect(await subscriptions.of(["s1", "s2", "s3"])).toHaveLength(2);
    expect(await subscriptions.of([])).toEqual([]);
    for (let nth = 0; nth < 2; nth += 1) await subscriptions.remove("s1", "millrace://runs/a");
    expect(await subscriptions.of(["s1", "s2"])).toHaveLength(1);
  });

  it("end with their session, and begin in none that has ended", async () => {
    const { sessions, subscriptions, start, subscribe } = await open();
    await subscribe("millrace://runs/a");
    await sessions.remove("s1");
    await expect(subscribe("millrace://runs/a")).rejects.toMatchObject({ code: "session_not_found" });
    await start("s1");
    expect(await subscriptions.of(["s1"])).toEqual([]);
  });

  it("are limited in a session, and by owner in all of them", async () => {
    const { subscriptions, start, subscribe } = await open();
    const fill = async (session: string) => {
      for (let nth = 0; nth < MAX_SUBSCRIPTIONS; nth += 1) await subscribe(`millrace://runs/${nth}`, session);
    };
    await fill("s1");
    const refused = { code: "too_many_subscriptions" };
    await expect(subscribe("millrace://runs/one-more")).rejects.toMatchObject(refused);
    // What it has already is no more than before.
    await subscribe("millrace://runs/0");
    expect(await subscriptions.of(["s1"])).toHaveLength(MAX_SUBSCRIPTIONS);
    for (let nth = 2; nth <= MAX_SUBSCRIPTIONS_PER_OWNER / MAX_SUBSCRIPTIONS; nth += 1) {
      await start(`s${nth}`);
      await fill(`s${nth}`);
    }
    await start("last");
    await expect(subscribe("millrace://runs/a", "last")).rejects.toMatchObject(refused);
    await subscribe("millrace://runs/a", "last", "bob");
    await subscriptions.remove("s1", "millrace://runs/0");
    await subscribe("millrace://runs/b", "last");
  });
});
