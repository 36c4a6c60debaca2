/** The real processes as a user starts them, in the order in which a user meets them. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { apiClient } from "../support/http.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { PASSWORD, startPostgres } from "../support/postgres.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SAMPLES = ["weekly-revenue", "lost-customers", "plan-and-sales"];
const execute = promisify(execFile);

/** A run that is still waiting when its processes are killed. */
const INTERRUPTED = {
  steps: [
    { id: "before", type: "set", values: { n: 1 } },
    { id: "pause", type: "wait", for: "1s", needs: ["before"] },
    { id: "after", type: "set", values: { n: "${{ steps.before.n + 1 }}" }, needs: ["pause"] },
  ],
  output: "${{ steps.after.n }}",
};

/** `npm start` on free ports in a process group of its own, because npm passes signals to its shell only. */
async function npmStart(env: Record<string, string>) {
  const child = spawn("npm", ["start", "--", "--port", "0", "--mcp-port", "0"], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (log += chunk));
  const ended = once(child, "close");
  const kill = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-child.pid!, signal);
    } catch {
      // The group has ended.
    }
  };
  onTestFinished(async () => {
    kill("SIGKILL");
    await ended;
  });
  const address = (pattern: RegExp) =>
    eventually(() => pattern.exec(log)?.[0], `${pattern} in\n${log}`, undefined);
  const web = await address(/http:\S+(?=\/workflows)/);
  const mcp = await address(/http:\S+(?=\/mcp)/);
  return {
    web,
    mcp,
    log: () => log,
    async stop(signal: NodeJS.Signals): Promise<void> {
      kill(signal);
      await ended;
    },
  };
}

const isHealthy = async (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  );

/** The lifecycle of an installation with its state in SQLite or PostgreSQL. @returns its log after SIGTERM */
async function tryInstallation(env: Record<string, string>): Promise<string> {
  const millrace = async (...args: string[]): Promise<string> =>
    (
      await execute("npx", ["millrace", ...args], { cwd: ROOT, env: { ...process.env, ...env } })
    ).stdout.trim();

  const first = await npmStart(env);
  for (const url of [first.web, first.mcp]) expect(await isHealthy(url)).toBe(true);
  expect(first.log()).toContain("millrace users setup-link");
  expect(await millrace("users", "setup-link")).toContain("/ui/setup#");
  expect(await (await fetch(`${first.web}/ui/`)).text()).toContain('<script type="module"');
  expect((await fetch(`${first.web}/apidoc/`)).status).toBe(200);

  const key = await millrace("keys", "create", "--name", "ci");
  const call = apiClient(first.web, key);
  for (const id of SAMPLES)
    expect((await call("POST", `/workflows/${id}/runs`, { wait: 30 })).body).toMatchObject({
      status: "succeeded",
    });
  const inspector = [
    "mcp-inspector",
    "--cli",
    `${first.mcp}/mcp`,
    "--transport",
    "http",
    "--stored-auth-only",
  ];
  const tool = [
    "--method",
    "tools/call",
    "--tool-name",
    "run_workflow",
    "--tool-arg",
    `workflow_id=${SAMPLES[0]!}`,
  ];
  const overMcp = await execute("npx", [...inspector, "--header", `X-API-Key: ${key}`, ...tool], {
    cwd: ROOT,
  });
  expect(overMcp.stdout).toContain('"status": "succeeded"');
  await millrace("run", SAMPLES[0]!);

  await call("POST", "/workflows", { name: "Interrupted", definition: INTERRUPTED });
  const { body: run } = await call("POST", "/workflows/interrupted/runs", {});
  await first.stop("SIGKILL");

  const second = await npmStart(env);
  const again = apiClient(second.web, key);
  const ended = await eventually(async () => {
    const { body } = await again("GET", `/runs/${run.id}`);
    return ["succeeded", "failed", "cancelled"].includes(body.status) ? body : undefined;
  }, "the end of the interrupted run");
  expect(ended).toMatchObject({ status: "succeeded", output: 2 });
  expect(JSON.parse(await millrace("runs", "--json"))).toHaveLength(SAMPLES.length + 3);

  await second.stop("SIGTERM");
  for (const url of [second.web, second.mcp]) expect(await isHealthy(url)).toBe(false);
  return second.log();
}

const BOTH_STOPPED = /mcp-sse stopped[^]*serve stopped|serve stopped[^]*mcp-sse stopped/;

describe("npm start", () => {
  it("runs the samples over every surface, continues after kill -9, and stops on SIGTERM", async () => {
    expect(await tryInstallation({ MILLRACE_STATE_DIR: temporaryDirectory() })).toMatch(BOTH_STOPPED);
  });

  it("does the same with its state in PostgreSQL", async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.stop());
    const log = await tryInstallation({
      MILLRACE_STATE_DIR: temporaryDirectory(),
      MILLRACE_DATABASE_URL: postgres.url(),
      MILLRACE_DATABASE_PASSWORD: PASSWORD,
    });
    expect(log).toMatch(BOTH_STOPPED);
  });
});
