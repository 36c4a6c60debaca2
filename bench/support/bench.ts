import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MILLRACE_BIN, startMillrace } from "./program.ts";
import type { LoadGenerator } from "./rounds.ts";
import type { Row } from "./table.ts";

export const WORKFLOW_COUNT = 100;

export interface Bench {
  /** The directory for all files, on the disk to measure. */
  directory: string;
  generator: LoadGenerator;
  /** The number of rounds of each target, and their duration in milliseconds. */
  roundOptions: { rounds: number; ms: number };
  quick: boolean;
  seed: Seed;
}

export interface Result {
  rows: Row[];
  /** Text below the table of results. */
  details?: string;
}

/** A state directory with `WORKFLOW_COUNT` workflows and an API key. */
export interface Seed {
  stateDir: string;
  key: string;
  /** The id of one workflow. */
  id: string;
}

/** Copies the seed's state directory for one program. No process may have the seed open. */
export function copyState(seed: Seed, directory: string, name: string): string {
  const path = join(directory, name, "state");
  cpSync(seed.stateDir, path, { recursive: true });
  return path;
}

/** Creates an API key in a state directory, or in the database that the environment names. */
export function createApiKey(stateDir: string, env: Record<string, string> = {}): string {
  const result = spawnSync(
    process.execPath,
    [fileURLToPath(MILLRACE_BIN), "keys", "create", "--name", "bench"],
    {
      env: { ...process.env, MILLRACE_STATE_DIR: stateDir, ...env },
      encoding: "utf8",
    },
  );
  if (result.status !== 0) throw new Error(result.stderr);
  return result.stdout.trim();
}

export async function createSeed(directory: string): Promise<Seed> {
  const stateDir = join(directory, "seed", "state");
  const key = createApiKey(stateDir);
  const server = await startMillrace("serve", stateDir);
  let id = "";
  for (let number = 1; number <= WORKFLOW_COUNT; number += 1) {
    const response = await fetch(`http://127.0.0.1:${server.port}/workflows`, {
      method: "POST",
      headers: { "X-API-Key": key, "Content-Type": "application/json" },
      body: JSON.stringify({
        name: `Weekly revenue of region ${number}`,
        description:
          "Revenue by product for the last seven days, compared with the week before, in two sentences.",
        tags: ["finance", "weekly"],
        definition: {
          steps: [
            { id: "rows", type: "sql", database: "sales", query: "select product, sum(amount) from orders" },
            { id: "text", type: "model", model: "small", prompt: "Sum up: ${{ steps.rows.output }}" },
          ],
        },
      }),
    });
    if (response.status !== 201) throw new Error(await response.text());
    ({ id } = (await response.json()) as { id: string });
  }
  await server.stop();
  return { stateDir, key, id };
}

/** Formats an HTTP/1.1 request. */
export function rawHttpRequest(
  method: string,
  path: string,
  headers: Record<string, string>,
  body = "",
): string {
  const all = {
    Host: "127.0.0.1",
    ...headers,
    ...(body !== "" && {
      "Content-Type": "application/json",
      "Content-Length": String(Buffer.byteLength(body)),
    }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${[`${method} ${path} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n${body}`;
}
