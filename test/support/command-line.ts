/** The command line on a state directory of its own, with the sample database configured. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished, vi } from "vitest";
import { makeShop } from "../../examples/shop.ts";
import { temporaryDirectory } from "./instance.ts";
import { run } from "./process.ts";

const BIN = fileURLToPath(new URL("../../bin/millrace.js", import.meta.url));

/** @param workflows file name (without .yaml) and text of those that are there from the beginning */
export async function commandLine(workflows: Readonly<Record<string, string>> = {}) {
  const directory = temporaryDirectory();
  const stateDir = join(directory, "state");
  mkdirSync(stateDir, { mode: 0o700 });
  const config =
    "databases:\n  - { name: shop, type: sqlite, dataset: ../shop.db }\ndefaults: { database: shop }\n";
  writeFileSync(join(stateDir, "config.yaml"), config);
  const cli = (...args: string[]) => run(args, { MILLRACE_STATE_DIR: stateDir });

  /** Writes files into a directory and gives its path. */
  const files = (texts: Readonly<Record<string, string>>, name = "workflows"): string => {
    const path = join(directory, name);
    mkdirSync(path, { recursive: true });
    for (const [file, text] of Object.entries(texts)) writeFileSync(join(path, `${file}.yaml`), text);
    return path;
  };
  if (Object.keys(workflows).length > 0) {
    const { code, err } = await cli("workflows", "apply", "--yes", "--no-bind", files(workflows, "first"));
    if (code !== 0) throw new Error(err);
  }

  return {
    directory,
    stateDir,
    cli,
    files,
    makeShop: () => makeShop(join(directory, "shop.db")),
    runs: async (...args: string[]) =>
      JSON.parse((await cli("runs", "--json", ...args)).out) as Record<string, unknown>[],
    /** Starts a command that goes on, and waits until it has said something. */
    async begin(args: readonly string[], said: RegExp) {
      const child = spawn(process.execPath, [BIN, ...args], {
        env: { ...process.env, MILLRACE_STATE_DIR: stateDir },
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
      await vi.waitFor(() => {
        if (!said.test(text)) throw new Error(`not yet: ${text}`);
      }, 15_000);
      return { child, text: () => text, ended: exited.then(([code]) => code) };
    },
  };
}
