import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { userReader } from "../../src/store/users.ts";
import { testUser } from "../support/accounts.ts";
import { JOURNAL_MODES, testStore } from "../support/store.ts";

const RACER = fileURLToPath(new URL("../support/accounts.ts", import.meta.url));

async function nextMessage(child: ChildProcess): Promise<string> {
  const ended = once(child, "exit").then(([code]) =>
    Promise.reject(new Error(`the process exited with ${code}`)),
  );
  ended.catch(() => {});
  const [message] = (await Promise.race([once(child, "message"), ended])) as [unknown];
  return String(message);
}

/** Processes that have opened the state directory and wait for a signal. */
async function racers(stateDir: string, names: readonly string[], local: boolean) {
  const children = names.map((name) =>
    fork(RACER, [stateDir, name, local ? "local" : "network"], { killSignal: "SIGKILL" }),
  );
  onTestFinished(() => children.forEach((child) => child.kill("SIGKILL")));
  expect(await Promise.all(children.map(nextMessage))).toEqual(names.map(() => "ready"));
  return async () => {
    const answers = children.map(nextMessage);
    for (const child of children) child.send("go");
    return Promise.all(answers);
  };
}

describe.each(JOURNAL_MODES)("the first admin on a %s", (_, local) => {
  it("is created by exactly one of several processes", async () => {
    const { stateDir, store } = await testStore({ local });
    const names = ["ann", "ben", "cleo"];
    const answers = await (await racers(stateDir, names, local))();
    expect(answers.toSorted()).toEqual(["created", "setup_done", "setup_done"]);
    const { items } = await userReader(store.read).page({ filter: {}, after: null, limit: 10 });
    expect(items).toEqual([testUser(names[answers.indexOf("created")]!, { role: "admin" })]);
  });
});
