/** `millrace check`: whether the configuration, and what it names, can be used. */
import { connect } from "node:net";
import { statSync } from "node:fs";
import Database from "better-sqlite3";
import type { Config } from "../../schemas/config.ts";
import { openInstance } from "../app.ts";
import { ConfigError, loadConfig } from "../config/config-file.ts";
import { shownVariable } from "../core/variables.ts";
import { readEnvironment } from "../config/environment.ts";
import { systemClock } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { CommandError, EXIT, type Io, openLog, paint } from "./io.ts";

interface Verdict {
  what: string;
  verdict: "ok" | "warning" | "fault";
  detail: string;
}

const REACH_MS = 3_000;

/** Prints a line per thing it looked at; ends with 3 when there is a fault. */
export async function check(io: Io, options: { config?: string; json?: boolean }): Promise<void> {
  const verdicts: Verdict[] = [];
  const settings = readEnvironment(io.env, options.config);
  for (const detail of settings.warnings) verdicts.push({ what: "environment", verdict: "warning", detail });
  let config: Config | undefined;
  try {
    const loaded = loadConfig(settings.configFile, settings.configNamed, io.env);
    config = loaded.config;
    verdicts.push({ what: "configuration", verdict: "ok", detail: loaded.file ?? "none, which is valid" });
    for (const detail of loaded.warnings)
      verdicts.push({ what: "configuration", verdict: "warning", detail });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const detail of error.faults) verdicts.push({ what: "configuration", verdict: "fault", detail });
  }
  verdicts.push(await checkState(io, settings.stateDir));
  if (config !== undefined) verdicts.push(...(await checkConnections(config, io.env)));

  if (options.json) io.out(`${JSON.stringify(verdicts, null, 2)}\n`);
  else print(io, verdicts);
  if (verdicts.some((it) => it.verdict === "fault"))
    throw new CommandError("Not everything can be used; see above.", EXIT.config);
}

function print(io: Io, verdicts: readonly Verdict[]): void {
  const { green, yellow, red } = paint(io);
  const mark = { ok: green("ok     "), warning: yellow("warning"), fault: red("fault  ") };
  for (const { what, verdict, detail } of verdicts) io.out(`${mark[verdict]}  ${what}: ${detail}\n`);
}

async function checkState(io: Io, path: string): Promise<Verdict> {
  try {
    const instance = await openInstance(path, systemClock, await openLog(io, "silent", "check"));
    const { directory, journalMode } = instance.store;
    await instance.close();
    return {
      what: "state directory",
      verdict: directory.local ? "ok" : "warning",
      detail: `${directory.path}, ${directory.fileSystem}, journal mode ${journalMode}`,
    };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { what: "state directory", verdict: "fault", detail: error.message };
  }
}

function checkConnections(config: Config, env: Io["env"]): Promise<Verdict[]> {
  const databases = config.databases.map(async (database): Promise<Verdict> => {
    const what = `database ${database.name}`;
    try {
      return { what, verdict: "ok", detail: await tryDatabase(database) };
    } catch (error) {
      return { what, verdict: "fault", detail: (error as Error).message };
    }
  });
  const models = config.models.map(async (model): Promise<Verdict> => {
    const what = `model ${model.name}`;
    if (model.key_var !== undefined && !env[model.key_var]) {
      return {
        what,
        verdict: "warning",
        detail: `its key_var names ${shownVariable(model.key_var)}, which is not set; workflows that call it can't run`,
      };
    }
    if (model.base_url === undefined)
      return { what, verdict: "ok", detail: `${model.vendor} ${model.model_ref}` };
    const url = new URL(model.base_url);
    try {
      await reach(url.hostname, Number(url.port) || (url.protocol === "https:" ? 443 : 80));
      return { what, verdict: "ok", detail: `${model.base_url} answers` };
    } catch (error) {
      return { what, verdict: "fault", detail: (error as Error).message };
    }
  });
  return Promise.all([...databases, ...models]);
}

const DEFAULT_PORTS = { postgresql: 5432, mysql: 3306, mariadb: 3306 } as const;

async function tryDatabase({ type, dataset }: Config["databases"][number]): Promise<string> {
  if (type === "sqlite") {
    const db = new Database(dataset, { readonly: true, fileMustExist: true });
    try {
      db.prepare("select count(*) from sqlite_schema").get();
    } finally {
      db.close();
    }
    return `${dataset} can be read`;
  }
  if (type === "duckdb") {
    if (!statSync(dataset).isFile()) throw new Error(`${dataset} is not a file`);
    return `${dataset} is there`;
  }
  const url = new URL(dataset);
  await reach(url.hostname, Number(url.port) || DEFAULT_PORTS[type]);
  return `${url.hostname} answers`;
}

/** Whether something listens there; nobody is logged in. */
function reach(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: REACH_MS });
    const end = (error?: Error): void => {
      socket.destroy();
      if (error === undefined) resolve();
      else reject(new Error(`${host}:${port} can't be reached: ${error.message}`));
    };
    socket.once("connect", () => end());
    socket.once("timeout", () => end(new Error(`no answer within ${REACH_MS / 1000} s`)));
    socket.once("error", end);
  });
}
