/** `millrace start`: both listeners side by side on one screen. */
import type { ChildProcess } from "node:child_process";
import { OPERATOR } from "../../schemas/actor.ts";
import { VERSION } from "../app/build.ts";
import { openInstance } from "../app/instance.ts";
import { createKey } from "../auth/api-keys.ts";
import { apiKeyState } from "../core/api-key-lifecycle.ts";
import type { Settings } from "../config/environment.ts";
import { readSetup } from "../config/setup.ts";
import { systemClock } from "../core/clock.ts";
import { reachableHost } from "../core/hosts.ts";
import { CommandError, EXIT, type Io, openLog, paint } from "./io.ts";
import type { MetricsOptions } from "./metrics.ts";
import { FIRST_SAMPLE, createSamples } from "./samples.ts";

export interface StartOptions extends MetricsOptions {
  host: string;
  port: number;
  mcpPort: number;
  config?: string;
  drainDelay: number;
  authMode: string;
  /** How many executors each listener starts. */
  workers: number;
}

export interface StartHost {
  /** Starts this program again with other arguments, with a channel to it. */
  spawn(args: readonly string[]): ChildProcess;
  onStop(stop: () => void): void;
}

/** Runs both listeners until one ends or it is told to stop. */
export async function start(io: Io, host: StartHost, options: StartOptions): Promise<void> {
  // Faults of the configuration and the state once, here, before two processes tell them.
  const { settings } = readSetup(io.env, options.config);
  const metrics = metricsArguments(settings, options);
  const key = await firstKey(io, settings);
  const sample = (await createSamples(io, settings)) ? FIRST_SAMPLE : undefined;

  const common = [
    "--host",
    options.host,
    "--drain-delay",
    String(options.drainDelay),
    "--workers",
    String(options.workers),
    ...(options.config === undefined ? [] : ["--config", options.config]),
  ];
  const children = [
    child(host, "serve", [
      "serve",
      "--auth-mode",
      options.authMode,
      "--port",
      String(options.port),
      "--mcp-port",
      String(options.mcpPort),
      "--of-start",
      ...common,
      ...metrics.serve,
    ]),
    child(host, "mcp-sse", ["mcp-sse", "--port", String(options.mcpPort), ...common, ...metrics.mcp]),
  ];
  let stopping = false;
  const stopAll = (): void => {
    stopping = true;
    for (const it of children) it.process.kill("SIGTERM");
  };
  host.onStop(stopAll);

  // In the order in which they end: the first is the cause, the other may only follow.
  const failures: { name: string; code: number; how: string }[] = [];
  const ended = Promise.all(
    children.map(async ({ name, ended: end }) => {
      const { code, how } = await end;
      if (code !== EXIT.ok) failures.push({ name, code, how });
      if (!stopping) stopAll();
    }),
  );
  const ready = await Promise.race([
    Promise.all(children.map((it) => it.ready)),
    ended.then(() => undefined),
  ]);
  if (ready !== undefined) {
    const [web, mcp] = ready;
    io.out(
      welcome(io, {
        host: options.host,
        ports: [web!.port, mcp!.port],
        setupLink: web!.setupLink,
        key,
        sample,
      }),
    );
  }

  await ended;
  const [cause] = failures;
  if (cause !== undefined)
    throw new CommandError(`${cause.name} ${cause.how}; the other was stopped too.`, cause.code);
}

/** Each of the two has a port of its own: that of `serve`, and the next one. */
function metricsArguments(
  { metrics }: Pick<Settings, "metrics">,
  { metricsPort: port = metrics.port, metricsHost = metrics.host }: MetricsOptions,
): { serve: string[]; mcp: string[] } {
  if (port === undefined) return { serve: [], mcp: [] };
  if (port === 65_535) {
    throw new CommandError(
      "Choose a metrics port below 65535: mcp-sse takes the one after that of serve.",
      EXIT.usage,
    );
  }
  const at = (chosen: number): string[] => ["--metrics-port", String(chosen), "--metrics-host", metricsHost];
  return { serve: at(port), mcp: at(port === 0 ? 0 : port + 1) };
}

function child(host: StartHost, name: string, args: readonly string[]) {
  const process = host.spawn(args);
  return {
    name,
    process,
    ready: new Promise<{ port: number; setupLink?: string }>((resolve) =>
      process.once("message", (message) => resolve(message as { port: number })),
    ),
    ended: new Promise<{ code: number; how: string }>((resolve) =>
      process.once("exit", (code, signal) => {
        // One that was asked to stop before it could listen for that has nothing to finish.
        const asked = signal === "SIGTERM" || signal === "SIGINT";
        const how = signal === null ? `ended with ${code}` : `was ended by ${signal}`;
        resolve({ code: asked ? EXIT.ok : (code ?? EXIT.failed), how });
      }),
    ),
  };
}

/** Who starts for the first time, at a terminal, gets a key to go on with; everybody else has theirs or makes one. */
async function firstKey(
  io: Io,
  { stateDir, logLevel }: Pick<Settings, "stateDir" | "logLevel">,
): Promise<string | undefined> {
  // The first to open it: this is where an upgrade is told.
  const instance = await openInstance(stateDir, systemClock, await openLog(io, logLevel, "start"));
  try {
    const now = systemClock.now();
    const none = !(await instance.keys.list()).some((key) => apiKeyState(key, now) === "active");
    if (!none) return undefined;
    // Off a terminal this would end up in a log.
    if (!io.terminal) return "";
    return (await createKey(instance.keys, systemClock, { name: "first start", owner: OPERATOR })).value;
  } finally {
    await instance.close();
  }
}

interface Told {
  host: string;
  ports: readonly [web: number, mcp: number];
  /** Where the first admin account is made; undefined once there is one. */
  setupLink: string | undefined;
  /** Undefined where there were keys before, empty where none was made. */
  key: string | undefined;
  /** A workflow that can be run at once. */
  sample: string | undefined;
}

function welcome(io: Io, { host, ports: [webPort, mcpPort], setupLink, key, sample }: Told): string {
  const { bold, cyan, dim } = paint(io);
  const at = reachableHost(host);
  const value = key || "<key>";
  const keyLines =
    key === undefined
      ? `Keys: ${cyan("npx millrace keys list")}, another with ${cyan("npx millrace keys create --name <name>")}`
      : key === ""
        ? `Make a key first: ${cyan("npx millrace keys create --name me")}`
        : `Your first key, shown this once: ${bold(key)}`;
  const config = JSON.stringify({
    mcpServers: {
      millrace: { type: "http", url: `http://${at}:${mcpPort}/mcp`, headers: { "X-API-Key": value } },
    },
  });
  const trying =
    sample === undefined
      ? ""
      : `
A sample database and workflows are there. Run one:
  ${cyan(`curl -H "X-API-Key: ${value}" -H "Content-Type: application/json" -d '{"wait": 30}' http://${at}:${webPort}/workflows/${sample}/runs`)}
  ${cyan(`npx millrace run ${sample} --watch`)}
  ${dim("or, once an agent is connected, tell it:")} ${cyan(`run the workflow ${sample}`)}
`;
  return `
${bold(`Millrace ${VERSION}`)}

  Web    http://${at}:${webPort}/ui/
  API    http://${at}:${webPort}/workflows   ${dim("reference:")} http://${at}:${webPort}/apidoc/
  MCP    http://${at}:${mcpPort}/mcp   ${dim("or, for older clients,")} http://${at}:${mcpPort}/sse
${setupLink === undefined ? "" : `\nMake your admin account here (the link works once):\n  ${cyan(setupLink)}\n`}
${keyLines}

List workflows:
  ${cyan(`curl -H "X-API-Key: ${value}" http://${at}:${webPort}/workflows`)}
Connect an agent (most clients take this):
  ${cyan(config)}
Claude Code:
  ${cyan(`claude mcp add --transport http millrace http://${at}:${mcpPort}/mcp --header "X-API-Key: ${value}"`)}
${trying}
Ctrl-C stops both.
`;
}
