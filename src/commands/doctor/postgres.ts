/** Checks the PostgreSQL database that holds the state, without changing it. */
import type { AuthMode } from "../../../schemas/user.ts";
import { SECOND, systemClock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { isLoopback } from "../../core/hosts.ts";
import { describeAddress, type PostgresAddress, type StateDatabase } from "../../core/postgres-address.ts";
import { inspectPostgres, type PostgresInspection, type ServerReport } from "../../store/postgres/inspect.ts";
import { hasDefaultLimits } from "../../store/settings.ts";
import { verifiedAuditLog } from "./audit.ts";
import { STATE, type CheckResult, checkResultsOf } from "./check-result.ts";
import { limitResults, type RunLimits } from "./limits.ts";
import { checkDatabaseRows } from "./rows.ts";
import { checkSignatures, type UnfitSecrets } from "./signatures.ts";
import { migrationResult, storedBytesResult, storeError } from "./state.ts";

const { ok, warning, error: failed } = checkResultsOf(STATE);

/** The releases of PostgreSQL that Millrace is made for. */
const VERSIONS = { oldest: 14, newest: 18 };
/** Maximum difference between the clocks of the server and of this machine, in milliseconds. */
const CLOCK_SLACK_MS = 2 * SECOND;
/** Share of the server's connections from which on more of them may be missing soon. */
const MANY_CONNECTIONS = 0.8;

interface PostgresCheckOptions {
  authMode: AuthMode;
  /** The configured limits of runs; undefined without a valid configuration. */
  limits?: RunLimits | undefined;
  /** Left out without a valid configuration. */
  unfitSecrets?: UnfitSecrets | undefined;
  /** Verifies everything, which reads all runs. */
  full: boolean;
}

/** Connects to the database and checks it. */
export async function checkPostgres(
  database: StateDatabase,
  options: PostgresCheckOptions,
): Promise<CheckResult[]> {
  try {
    const inspection = await inspectPostgres(database);
    try {
      return await checkDatabase(database, inspection, options);
    } finally {
      await inspection.close();
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [storeError("database", error)];
  }
}

async function checkDatabase(
  { address, listenAddress = address }: StateDatabase,
  { server, migrationStatus, read, checkNotifications }: PostgresInspection,
  { authMode, limits, unfitSecrets, full }: PostgresCheckOptions,
): Promise<CheckResult[]> {
  const results = [
    checkConnection(address, server),
    checkVersion(server),
    ...checkServer(server),
    ...checkPrivileges(server),
    checkClock(server),
    await notificationResult(checkNotifications, listenAddress === address),
  ];
  const migrations = migrationResult(await migrationStatus());
  results.push(migrations);
  if (migrations.status !== "ok") return results;
  for await (const result of checkDatabaseRows(read, true, authMode)) results.push(result);
  results.push(await verifiedAuditLog(read, full));
  if (full) results.push(await storedBytesResult(read));
  if (unfitSecrets !== undefined) results.push(...(await checkSignatures(read, unfitSecrets)));
  if (limits !== undefined) results.push(...limitResults(limits, await hasDefaultLimits(read)));
  return results;
}

function checkConnection(address: PostgresAddress, { usesTls, user }: ServerReport): CheckResult {
  const { host, ssl } = address;
  const name = `${describeAddress(address)}, as ${user}`;
  const isLocal = host.startsWith("/") || isLoopback(host);
  if (isLocal) return ok("database", name);
  if (!usesTls)
    return warning(
      "database",
      `${name}: the connection is not encrypted`,
      "Turn ssl on at the server, and add sslmode=verify-full to MILLRACE_DATABASE_URL. If a proxy on this network encrypts it, ignore this.",
    );
  return ssl.mode === "verify-full" || ssl.mode === "verify-ca"
    ? ok("database", `${name}, encrypted`)
    : warning(
        "database",
        `${name}: encrypted, but with any certificate (sslmode=${ssl.mode})`,
        "Add sslmode=verify-full to MILLRACE_DATABASE_URL, and sslrootcert=<file> unless the system trusts the certificate.",
      );
}

function checkVersion({ version, majorVersion }: ServerReport): CheckResult {
  const { oldest, newest } = VERSIONS;
  if (majorVersion < oldest)
    return failed("version", `PostgreSQL ${version} is too old`, `Upgrade it to ${oldest} or newer.`);
  if (majorVersion > newest)
    return warning(
      "version",
      `PostgreSQL ${version} is newer than this release knows`,
      `Use PostgreSQL ${oldest} to ${newest}, or a newer release of Millrace.`,
    );
  return ok("version", `PostgreSQL ${version}`);
}

function checkServer({ isReplica, encoding, isDurable, connections }: ServerReport): CheckResult[] {
  const { open, max } = connections;
  const used = `${open} of ${max} in use`;
  return [
    ...(isReplica
      ? [
          failed(
            "server",
            "it is a replica, which is read-only",
            "Name the primary in MILLRACE_DATABASE_URL.",
          ),
        ]
      : []),
    ...(encoding === "UTF8"
      ? []
      : [
          failed(
            "server",
            `the encoding of the database is ${encoding}`,
            "Create another database: create database millrace encoding 'UTF8' template template0.",
          ),
        ]),
    ...(isDurable
      ? []
      : [
          warning(
            "server",
            "commits do not wait for the disk (fsync or synchronous_commit is off): a crash of the server loses changes that were acknowledged",
            "Turn fsync and synchronous_commit on.",
          ),
        ]),
    open > max * MANY_CONNECTIONS
      ? warning(
          "connections",
          used,
          "Raise max_connections of the server, lower MILLRACE_DATABASE_CONNECTIONS, or put PgBouncer in between.",
        )
      : ok("connections", used),
  ];
}

function checkPrivileges({ user, mayCreate, tablesOfOthers, isSuperuser }: ServerReport): CheckResult[] {
  const [first] = tablesOfOthers;
  if (first !== undefined)
    return [
      failed(
        "privileges",
        `${user} does not own ${tablesOfOthers.length} tables, such as ${first}, so upgrades fail`,
        `Make ${user} their owner: reassign owned by <old owner> to ${user}.`,
      ),
    ];
  if (!mayCreate)
    return [
      failed(
        "privileges",
        `${user} may not create tables, so upgrades fail`,
        `Run as its owner: grant create on schema public to ${user}.`,
      ),
    ];
  return isSuperuser
    ? [
        warning(
          "privileges",
          `${user} is a superuser, which can change everything on the server`,
          "Create a role and a database of its own: create role millrace login; create database millrace owner millrace.",
        ),
      ]
    : [ok("privileges", `${user} may read, write and migrate`)];
}

function checkClock({ now }: ServerReport): CheckResult {
  const ahead = systemClock.now() - now;
  return Math.abs(ahead) <= CLOCK_SLACK_MS
    ? ok("server clock", "agrees with this machine")
    : warning(
        "server clock",
        `this machine is ${Math.abs(Math.round(ahead / SECOND))} s ${ahead > 0 ? "ahead of" : "behind"} it`,
        "Synchronize both clocks with NTP.",
      );
}

const POOLED =
  "MILLRACE_DATABASE_URL leads through a pooler of transactions, such as PgBouncer in transaction mode";
const POLLING = "Processes poll for changes twice a second instead";

/** @param isOneAddress whether MILLRACE_DATABASE_URL is also the address that listens */
async function notificationResult(
  check: PostgresInspection["checkNotifications"],
  isOneAddress: boolean,
): Promise<CheckResult> {
  const name = "notifications";
  try {
    const { arrive, isPooled } = await check();
    if (arrive) return ok(name, isPooled ? `arrive at MILLRACE_DATABASE_LISTEN_URL; ${POOLED}` : "arrive");
    return isOneAddress
      ? warning(
          name,
          `do not arrive: ${POOLED}. ${POLLING}`,
          "Set MILLRACE_DATABASE_LISTEN_URL to the address of the server itself.",
        )
      : warning(
          name,
          `do not arrive at MILLRACE_DATABASE_LISTEN_URL: it leads through a pooler of transactions, or to another database. ${POLLING}`,
          "Set it to the address of the server itself, with the database that MILLRACE_DATABASE_URL names.",
        );
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { message } = error;
    return warning(
      name,
      `do not arrive, because the connection that listens failed: ${message} ${POLLING}`,
      isOneAddress ? "Follow the instructions in the message." : "Check MILLRACE_DATABASE_LISTEN_URL.",
    );
  }
}
