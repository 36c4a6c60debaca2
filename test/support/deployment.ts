/** The reference deployment on one host: two processes of each server on one state directory, behind nginx. */
import { type Nginx, freePorts, startNginx } from "./nginx.ts";
import { type Program, runCommand, startProgram } from "./process.ts";
import { newStateDirectory } from "./web.ts";

export interface Replica {
  command: "serve" | "mcp-sse";
  port: number;
  program: Program;
  /** Stops it as an operator does, and starts it again on its port. */
  restart(): Promise<void>;
  /** Starts it after its end. */
  start(): Promise<void>;
}

export interface Deployment {
  /** The addresses for users and agents. */
  url: string;
  nginx: Nginx;
  replicas: Replica[];
  stateDir: string;
  /** An API key with the scopes read, write and run. */
  key: string;
}

/** As in deploy/compose.yaml, in seconds. */
const DRAIN_DELAY = 15;

/** Starts a copy that keeps its port. */
export async function startReplica(
  command: Replica["command"],
  port: number,
  stateDir: string,
  { args, env }: { args: string[]; env: Record<string, string> },
): Promise<Replica> {
  const start = () => startProgram(command, stateDir, { args: ["--port", String(port), ...args], env });
  const self: Replica = {
    command,
    port,
    program: await start(),
    async start() {
      self.program = await start();
    },
    async restart() {
      const { code } = await self.program.stop();
      if (code !== 0) throw new Error(`${command} ended with ${code}:\n${self.program.log().slice(-2_000)}`);
      await self.start();
    },
  };
  return self;
}

/** @param drainDelay in seconds */
export async function startDeployment({
  drainDelay = DRAIN_DELAY,
}: { drainDelay?: number } = {}): Promise<Deployment> {
  const stateDir = newStateDirectory();
  const key = (
    await runCommand(["keys", "create", "--name", "load"], { MILLRACE_STATE_DIR: stateDir })
  ).out.trim();
  const ports = await freePorts(6);
  const [https, http, web0, web1, mcp0, mcp1] = ports as [number, number, number, number, number, number];
  const url = `https://localhost:${https}`;
  const env = {
    MILLRACE_BASE_URL: url,
    MILLRACE_MCP_URL: `${url}/mcp`,
    MILLRACE_TRUSTED_PROXIES: "127.0.0.1",
    MILLRACE_LOG_LEVEL: "info",
  };
  const copy = (command: Replica["command"], port: number, workers: number): Promise<Replica> => {
    const args = ["--workers", String(workers), "--drain-delay", String(drainDelay)];
    return startReplica(command, port, stateDir, { args, env });
  };
  // Two of the processes have executors; no test stops both at a time.
  const replicas = [
    await copy("serve", web0, 1),
    ...(await Promise.all([copy("serve", web1, 0), copy("mcp-sse", mcp0, 0), copy("mcp-sse", mcp1, 1)])),
  ];
  const nginx = await startNginx({ https, http, web: [web0, web1], mcp: [mcp0, mcp1] });
  return { url, nginx, replicas, stateDir, key };
}
