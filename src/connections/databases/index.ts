/** The databases of the configuration: opens each when it is first used. The rules for statements are in named-databases.ts. */
import type { CallContext, Databases } from "../../core/connections.ts";
import { type SecretSource, withSecrets } from "../../core/secret-source.ts";
import { StepError } from "../../core/step-errors.ts";
import { createFairPool, type FairPool } from "../fair-pool.ts";
import type { ConnectionConfig, DatabaseEntry } from "../limit-config.ts";
import { createChildPool } from "./child-pool.ts";
import type { ConnectOptions, Driver } from "./driver.ts";
import { createFileDriver, createScratchDriver } from "./embedded.ts";
import { hidingPaths } from "./hide-paths.ts";
import { namedDatabases } from "./named-databases.ts";
import { shareConnections } from "./share-connections.ts";

type DatabasesConfig = Pick<ConnectionConfig, "databases" | "unusable" | "isLimited">;

export interface DatabasesOptions {
  /** The state directory, in which workflows must not open databases. */
  stateDir: string;
  /** Maximum number of child processes for embedded databases. One owner gets at most three quarters of them. */
  maxChildProcesses?: number;
  /** Memory limit of each child process, in MiB. */
  memoryMb?: number;
  /** How long an idle child process or connection stays open, in milliseconds. */
  idleTimeoutMs?: number;
  /** Time limit for connecting to a server, in milliseconds. */
  connectTimeoutMs?: number;
  /** Time limit for preparing a query in an embedded database, in milliseconds. */
  prepareTimeoutMs?: number;
  /** The program of the child processes; tests start the built one, in a quarter of the time. */
  childProgram?: string | undefined;
}

const DEFAULT_CONNECTIONS = 10;

export interface SharedDatabases extends Databases {
  /** The databases of a part of the configuration, on the same connections, processes and limits. */
  limitedTo(config: DatabasesConfig): Databases;
  close(): Promise<void>;
}

/** @param secrets the values of the passwords, which can change */
export function createDatabases(
  config: DatabasesConfig,
  secrets: SecretSource,
  {
    stateDir,
    maxChildProcesses: size = 4,
    memoryMb = 512,
    idleTimeoutMs = 30_000,
    connectTimeoutMs = 10_000,
    prepareTimeoutMs = 5_000,
    childProgram: program,
  }: DatabasesOptions,
): SharedDatabases {
  const children = createChildPool({ size, idleTimeoutMs, memoryMb, prepareTimeoutMs, program });
  const drivers = new Map<string, Promise<Driver>>();
  /** The places of each database, which its roles share. */
  const places = new Map<string, FairPool>();
  const closing = new AbortController();
  const ending = ({ owner, signal }: CallContext): CallContext => ({
    owner,
    signal: AbortSignal.any([signal, closing.signal]),
  });

  const unavailableReason = ({ password_var: variable }: DatabaseEntry): string | null =>
    variable === undefined ? null : secrets.missingReason(variable);

  /** Connects on demand, so that an unavailable server does not prevent the start. */
  async function driverOf(entry: DatabaseEntry): Promise<Driver> {
    if (entry.password_var !== undefined) await secrets.load([entry.password_var]);
    const why = unavailableReason(entry);
    if (why !== null)
      throw new StepError("environment", `The password of the database ${entry.name} is missing: ${why}.`, {
        fix: "Ask the operator to set it.",
      });
    // Each role has its own connections: a session that changed its role could change it back.
    const key = JSON.stringify([entry.name, entry.role?.name]);
    const known = drivers.get(key);
    if (known !== undefined) return known;
    const driver = makeDriver(entry);
    drivers.set(key, driver);
    driver.catch(() => drivers.delete(key));
    return driver;
  }

  /** Loads the drivers of servers on demand, because many processes use none. */
  async function makeDriver({ name, type, dataset, role, ...entry }: DatabaseEntry): Promise<Driver> {
    if (type === "sqlite" || type === "duckdb") {
      const paths = new Set([dataset]);
      const onFile = (file: string): void => void paths.add(file);
      return hidingPaths(createFileDriver(type, dataset, { stateDir, children, onFile }), paths);
    }
    const { password_var: variable, concurrency: maxConnections = DEFAULT_CONNECTIONS } = entry;
    const server = {
      url: dataset,
      user: role?.user,
      password: () => (variable === undefined ? undefined : secrets.get(variable)),
      connecting: <T>(options: ConnectOptions, work: () => Promise<T>) =>
        withSecrets(secrets, variable === undefined ? [] : [variable], options, work),
      maxConnections,
      idleTimeoutMs: idleTimeoutMs,
      connectTimeoutMs: connectTimeoutMs,
    };
    const driver =
      type === "postgresql"
        ? (await import("./postgres.ts")).createPostgresDriver(server)
        : (await import("./mysql.ts")).createMysqlDriver(server);
    const shared = places.get(name) ?? createFairPool(maxConnections);
    places.set(name, shared);
    return hidingPaths(shareConnections(driver, shared), new Set());
  }

  const front = (limited: DatabasesConfig): Databases =>
    namedDatabases(limited, {
      unavailableReason,
      driverOf,
      scratch: (tables) => createScratchDriver(tables, children),
      ending,
    });

  return {
    ...front(config),
    limitedTo: front,
    async close() {
      closing.abort(new StepError("interrupted", "The process is shutting down."));
      children.close();
      await Promise.allSettled([...drivers.values()].map(async (driver) => (await driver).close()));
      drivers.clear();
    },
  };
}
