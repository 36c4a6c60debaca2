/** Runs the simulator (test/simulation/main.ts) in a process of its own: it takes timers and clocks over. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ROOT } from "./documents.ts";

const MAIN = fileURLToPath(new URL("../simulation/main.ts", import.meta.url));

/** @returns what it has printed, and its exit code: 1 where a promise is broken */
export async function runSimulation(
  args: readonly string[],
): Promise<{ output: string; code: number | null }> {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => void (output += chunk));
  const [code] = (await once(child, "close")) as [number | null];
  return { output, code };
}
