import { describe, expect, it } from "vitest";
import { iso } from "../../src/core/clock.ts";
import {
  type Copies,
  concurrentCreates,
  crud,
  mcpSession,
  oneEffect,
  relayedMessages,
  revocation,
} from "../support/copy-scenarios.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { CLIENT_NAMES } from "../support/mcp.ts";
import { runCommand, startProgram } from "../support/process.ts";
import { startLoadBalancer } from "../support/load-balancer.ts";

async function inThisProcess(): Promise<Copies> {
  const one = await testInstance();
  const two = await testInstance({ stateDir: one.stateDir });
  const listeners = await Promise.all([one.rest(), two.rest(), one.mcp(), two.mcp()]);
  const [rest1, rest2, mcp1, mcp2] = listeners.map(({ url }) => url) as [string, string, string, string];
  const { value, record } = await one.key();
  return {
    rest: await startLoadBalancer([rest1, rest2]),
    mcp: await startLoadBalancer([mcp1, mcp2]),
    key: value,
    revoke: async () => void (await one.keys.revoke(record.id, iso(Date.now()), "operator")),
  };
}

async function asProcesses(): Promise<Copies> {
  const stateDir = temporaryDirectory();
  const env = { MILLRACE_STATE_DIR: stateDir };
  // All start concurrently on an empty directory.
  const [rest1, rest2, mcp1, mcp2, created] = await Promise.all([
    startProgram("serve", stateDir),
    startProgram("serve", stateDir),
    startProgram("mcp-sse", stateDir),
    startProgram("mcp-sse", stateDir),
    runCommand(["keys", "create", "--name", "ci"], env),
  ]);
  expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/^mill_\w{36}\n$/) });
  return {
    rest: await startLoadBalancer([rest1.url, rest2.url]),
    mcp: await startLoadBalancer([mcp1.url, mcp2.url]),
    key: created.out.trim(),
    async revoke() {
      expect(await runCommand(["keys", "revoke", "ci"], env)).toMatchObject({ code: 0 });
    },
  };
}

const BOTH = [0, 1];

describe("two copies behind a round-robin", () => {
  it("serve REST as one: a write to one is visible on the other immediately", async () => {
    expect(await crud(await inThisProcess())).toEqual(BOTH);
  });

  it.each(CLIENT_NAMES)("serve MCP as one: %s", async (way) => {
    expect(await mcpSession(await inThisProcess(), way)).toEqual(BOTH);
  });

  it("relay messages that an SSE client posts to the copy without its stream", async () => {
    expect(await relayedMessages(await inThisProcess())).toBeGreaterThan(5);
  });

  it("assign different ids to concurrent creations with one name", async () => {
    expect(await concurrentCreates(await inThisProcess())).toEqual(BOTH);
  });

  it("run a request once that reaches both with one idempotency key", async () => {
    expect(await oneEffect(await inThisProcess())).toEqual(BOTH);
  });

  it("both refuse a key at the next request after one of them revoked it", async () => {
    expect(await revocation(await inThisProcess())).toEqual(BOTH);
  });

  it("do all that as separate processes", { timeout: 60_000 }, async () => {
    const copies = await asProcesses();
    expect(await crud(copies)).toEqual(BOTH);
    for (const way of CLIENT_NAMES) expect(await mcpSession(copies, way)).toEqual(BOTH);
    expect(await concurrentCreates(copies)).toEqual(BOTH);
    expect(await oneEffect(copies)).toEqual(BOTH);
    expect(await revocation(copies)).toEqual(BOTH);
  });
});
