/** The time from the start of a listener's process to its first 200 on /health, and its memory when idle. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Bench, copyState, type Result, rawHttpRequest } from "./support/bench.ts";
import { cpuMs, residentBytes, startMillrace } from "./support/program.ts";
import { median, megabytes, milliseconds, table, type Row } from "./support/table.ts";

const GOAL_MS = 700;
const GOAL_BYTES = 120e6;

export async function startUp({ directory, generator, seed, quick }: Bench): Promise<Result> {
  const rows: Row[] = [];
  const details: string[][] = [];
  for (const command of ["serve", "mcp-sse"] as const) {
    const stateDir = copyState(seed, directory, `start-${command}`);
    const cache = (name: string): Record<string, string> => {
      const path = join(directory, "compile-cache", `${command}-${name}`);
      mkdirSync(path, { recursive: true });
      return { NODE_COMPILE_CACHE: path };
    };
    const start = async (env: Record<string, string>) => {
      const begin = performance.now();
      const program = await startMillrace(command, stateDir, env);
      const health = await fetch(`http://127.0.0.1:${program.port}/health`);
      const ms = performance.now() - begin;
      if (health.status !== 200) throw new Error(`/health answered ${health.status}`);
      return { ms, cpu: cpuMs(program.pid), program };
    };

    await start(cache("warm")).then(({ program }) => program.stop());
    const times = { warm: [] as number[], cold: [] as number[] };
    const cpu = { warm: [] as number[], cold: [] as number[] };
    for (let round = 0; round < (quick ? 3 : 5); round += 1) {
      for (const kind of ["warm", "cold"] as const) {
        const started = await start(cache(kind === "warm" ? kind : `${kind}-${round}`));
        times[kind].push(started.ms);
        cpu[kind].push(started.cpu);
        await started.program.stop();
      }
    }
    for (const kind of ["warm", "cold"] as const) {
      const ms = median(times[kind]);
      rows.push({
        label: `${command}: first healthy response, ${kind} compile cache`,
        value: milliseconds(ms),
        goal: `≤ ${milliseconds(GOAL_MS)}`,
        goalMet: ms <= GOAL_MS,
      });
    }

    for (const kind of ["warm", "cold"] as const) {
      const { program } = await start(cache(kind === "warm" ? kind : "cold-memory"));
      await delay(quick ? 1_000 : 2_000);
      const idle = residentBytes(program.pid);
      const path = command === "serve" ? `/workflows/${seed.id}` : "/mcp";
      const body =
        command === "serve"
          ? ""
          : JSON.stringify({
              jsonrpc: "2.0",
              id: 1,
              method: "tools/call",
              params: { name: "get_workflow", arguments: { workflow_id: seed.id } },
            });
      const request = rawHttpRequest(
        body === "" ? "GET" : "POST",
        path,
        { "X-API-Key": seed.key, Accept: "application/json, text/event-stream" },
        body,
      );
      await generator.load({ name: "traffic", program, request, status: 200 }, 16, quick ? 1_000 : 2_000);
      const busy = residentBytes(program.pid);
      await delay(quick ? 2_000 : 5_000);
      const later = residentBytes(program.pid);
      await program.stop();
      rows.push({
        label: `${command}: resident memory when idle, ${kind} compile cache`,
        value: megabytes(idle),
        goal: `< ${megabytes(GOAL_BYTES)}`,
        goalMet: idle < GOAL_BYTES,
      });
      rows.push({
        label: `${command}: resident memory when idle after load, ${kind} compile cache`,
        value: megabytes(later),
        goal: `< ${megabytes(GOAL_BYTES)}`,
        goalMet: later < GOAL_BYTES,
      });
      details.push([
        command,
        kind,
        milliseconds(median(cpu[kind])),
        megabytes(idle),
        megabytes(busy),
        megabytes(later),
      ]);
    }
  }
  return {
    rows,
    details: table(
      ["listener", "compile cache", "CPU until healthy", "idle", "under load", "idle after load"],
      details,
    ),
  };
}
