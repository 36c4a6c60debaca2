import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { describeLockHolder } from "../../src/store/lock-holder.ts";
import { untilPassing } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/instance.ts";

/** Another process that takes the write lock, and says so. */
async function holdInProcess(file: string, journal: "wal" | "delete") {
  const program = `
    const db = new (require("better-sqlite3"))(${JSON.stringify(file)});
    db.pragma("journal_mode = ${journal}");
    db.exec("begin immediate");
    console.log("held");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

it.runIf(process.platform === "linux").each(["wal", "delete"] as const)(
  "names the process that holds the lock, and says that it is stopped (%s)",
  async (journal) => {
    const file = join(temporaryDirectory(), "millrace.db");
    expect(await describeLockHolder(file)).toBeUndefined();
    const child = await holdInProcess(file, journal);
    expect(await describeLockHolder(file)).toBe(`process ${child.pid}`);
    child.kill("SIGSTOP");
    const stopped = `process ${child.pid}, which is stopped (SIGSTOP or a debugger)`;
    await untilPassing(async () => expect(await describeLockHolder(file)).toBe(stopped));
    child.kill("SIGKILL");
    await untilPassing(async () => expect(await describeLockHolder(file)).toBeUndefined());
  },
);
