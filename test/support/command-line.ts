/** Runs the command line on a new state directory. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { parse } from "yaml";
import { openInstance } from "../../src/app/instance.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { systemClock } from "../../src/core/clock.ts";
import { temporaryDirectory } from "./instance.ts";
import { runCommand } from "./process.ts";
import { eventually } from "./eventually.ts";
import { PROGRAM } from "./built.ts";

type Written = Record<string, unknown> & { name: string; description?: string; tags?: string[] };

/** @param workflows ids and texts of the initial workflows */
export async function testCli(workflows: Readonly<Record<string, string>> = {}) {
  const directory = temporaryDirectory();
  const stateDir = join(directory, "state");
  mkdirSync(stateDir, { mode: 0o700 });
  const cli = (...args: string[]) => runCommand(args, { MILLRACE_STATE_DIR: stateDir });

  /** Writes files into a new directory and returns its path. */
  const files = (texts: Readonly<Record<string, string>>, name = "workflows"): string => {
    const path = join(directory, name);
    mkdirSync(path, { recursive: true });
    for (const [file, text] of Object.entries(texts)) writeFileSync(join(path, `${file}.yaml`), text);
    return path;
  };
  const instance = await openInstance({ stateDir }, systemClock, pino({ level: "silent" }));
  await instance.write({ operation: "test", actor: OPERATOR_ACTOR, requestId: "req_1" }, async (tx) => {
    const change = { kind: "created", reason: null, actor: OPERATOR_ACTOR } as const;
    for (const [id, text] of Object.entries(workflows)) {
      const { id: _, name, description = "", tags = [], ...definition } = parse(text) as Written;
      await tx.workflows.insert({ name, description, tags, definition }, change, { id });
    }
  });
  await instance.close();

  return {
    directory,
    stateDir,
    cli,
    files,
    runs: async (...args: string[]) =>
      JSON.parse((await cli("runs", "--json", ...args)).out) as Record<string, unknown>[],
    /** Starts a long-running command, and waits for its first output. */
    async begin(args: readonly string[], output: RegExp, env: Record<string, string> = {}) {
      const child = spawn(process.execPath, [PROGRAM, ...args], {
        env: { ...process.env, MILLRACE_STATE_DIR: stateDir, ...env },
        stdio: ["pipe", "pipe", "pipe"],
      });
      const exited = once(child, "close") as Promise<[number | null]>;
      onTestFinished(async () => {
        child.kill("SIGKILL");
        await exited;
      });
      let text = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      await eventually(() => output.test(text) || undefined, `${output} in the output of ${args.join(" ")}`);
      return { child, text: () => text, ended: exited.then(([code]) => code) };
    },
  };
}
