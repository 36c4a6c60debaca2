import { describe, expect, it } from "vitest";
import { createKey } from "../../src/auth/api-keys.ts";
import { OPERATOR } from "../../schemas/actor.ts";
import type { Io } from "../../src/commands/io.ts";
import { type FirstAdmin, serve } from "../../src/commands/listeners.ts";
import { iso, systemClock } from "../../src/core/clock.ts";
import { runCommand } from "../support/process.ts";
import { testInstance } from "../support/instance.ts";

const LINK = /http:\/\/127\.0\.0\.1:\d+\/ui\/setup#\w{32}/;

/** Starts `serve` in this process, and stops it as soon as it listens. @returns what it printed and reported */
async function startOnce(stateDir: string, terminal: boolean) {
  let out = "";
  const reported = Promise.withResolvers<FirstAdmin>();
  const io: Io = {
    out: (text) => void (out += text),
    err: () => {},
    terminal,
    errTerminal: false,
    env: { MILLRACE_STATE_DIR: stateDir, MILLRACE_LOG_LEVEL: "error" },
    onExit: () => {},
  };
  const ended = serve(
    io,
    {
      onStop: (stop) => void reported.promise.then(() => stop()),
      ready: reported.resolve,
      spawn: () => {
        throw new Error("no executor was asked for");
      },
    },
    { host: "127.0.0.1", port: 0, authMode: "built-in", mcpPort: 0, workers: 0, drainDelay: 0 },
  );
  await ended;
  const { needsAdmin, setupLink } = await reported.promise;
  return { out, needsAdmin, setupLink };
}

const setUp = async () => {
  const instance = await testInstance();
  const countLinks = async () =>
    (await instance.store.read.selectFrom("account_links").select("kind").execute()).length;
  return { instance, stateDir: instance.stateDir, countLinks };
};

describe("the setup link", () => {
  it("is printed by the first start at a terminal, and is the only one", async () => {
    const { stateDir, countLinks } = await setUp();
    const first = await startOnce(stateDir, true);
    expect(first).toEqual({
      out: expect.stringMatching(LINK),
      needsAdmin: true,
      setupLink: expect.any(String),
    });
    await startOnce(stateDir, true);
    expect(await countLinks()).toBe(1);
  });

  it("is not created by a start without a terminal, whose output is a log", async () => {
    const { stateDir, countLinks } = await setUp();
    expect(await startOnce(stateDir, false)).toEqual({ out: "", needsAdmin: true, setupLink: undefined });
    expect(await countLinks()).toBe(0);
  });

  it("is not created by a restart of an installation whose keys are in use", async () => {
    const { instance, stateDir, countLinks } = await setUp();
    const { record } = await createKey(instance.keys, systemClock, { name: "agent", owner: OPERATOR });
    expect(await startOnce(stateDir, true)).toMatchObject({ setupLink: expect.stringMatching(LINK) });
    const now = iso(systemClock.now());
    await instance.keys.touch(new Map([[record.id, now]]), now);
    expect(await startOnce(stateDir, true)).toEqual({ out: "", needsAdmin: true, setupLink: undefined });
    expect(await countLinks()).toBe(1);
  });

  it("is printed on request, and replaces the one before; not once there is a user", async () => {
    const { stateDir, countLinks } = await setUp();
    const command = () => runCommand(["users", "setup-link"], { MILLRACE_STATE_DIR: stateDir });
    const [first, second] = [await command(), await command()];
    expect([first.code, second.code, await countLinks()]).toEqual([0, 0, 1]);
    expect(first.out).toMatch(/^http:\/\/127\.0\.0\.1:3000\/ui\/setup#\w{32}\n$/);
    expect(second.out).not.toBe(first.out);
    await runCommand(["users", "invite", "ann@example.com", "--role", "admin"], {
      MILLRACE_STATE_DIR: stateDir,
    });
    expect(await command()).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("The first admin already exists."),
    });
  });
});
