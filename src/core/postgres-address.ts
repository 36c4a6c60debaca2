/** The address of a PostgreSQL database: a URL with the parameters that libpq knows. */
import { nearMatch } from "./near-match.ts";

/**
 * How the connection is protected, as libpq means it: `require` accepts any certificate, unless there is a root certificate to check it
 * with; `verify-ca` checks who signed it, and `verify-full` the name in it too.
 */
const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;
type SslMode = (typeof SSL_MODES)[number];

/** @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS */
const PARAMETERS = ["host", "sslmode", "sslrootcert", "sslcert", "sslkey", "application_name"] as const;

const DEFAULT_PORT = 5432;
/** `sslrootcert=system`: the certificates that the system trusts. */
export const SYSTEM_CERTIFICATES = "system";

export interface PostgresAddress {
  /** A name, an address, or the directory of a Unix socket. */
  host: string;
  port: number;
  user: string;
  database: string;
  applicationName: string;
  ssl: {
    mode: SslMode;
    /** Paths of PEM files. */
    rootCertificates: string | undefined;
    certificate: string | undefined;
    key: string | undefined;
  };
}

/** The database that holds the state, as the environment names it. */
export interface StateDatabase {
  address: PostgresAddress;
  /** Another address for the connection that listens for changes: not that of PgBouncer, but of the server. */
  listenAddress?: PostgresAddress | undefined;
  /** Maximum number of connections of a process to read and write, at least 2; there is one more to listen, and one for `/health`. */
  maxConnections: number;
  /**
   * Reads the password for a new connection; undefined for none.
   * @throws AppError storage_unavailable when it can't be read
   */
  readPassword(): Promise<string | undefined>;
}

/** Where the state is: in a directory, or on a PostgreSQL server. The directory then holds only the configuration and samples. */
export interface StateLocation {
  stateDir: string;
  database?: StateDatabase | undefined;
}

export interface ParsedPostgresUrl {
  address: PostgresAddress;
  /** Undefined when the URL has none. */
  password: string | undefined;
}

/**
 * Parses a URL such as `postgres://millrace@db.example.com/millrace?sslmode=verify-full`.
 * @returns an issue as a clause, which never repeats the URL: it may contain a password
 */
export function parsePostgresUrl(text: string): ParsedPostgresUrl | { issue: string } {
  const url = parseUrl(text);
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol))
    return {
      issue:
        "must be a URL that begins with postgres:// (its value is not shown, because it may contain a password)",
    };
  const unknown = [...url.searchParams.keys()].find((name) => !isOneOf(PARAMETERS, name));
  if (unknown !== undefined) {
    const near = nearMatch(unknown, PARAMETERS);
    return {
      issue: `has the parameter ${unknown}, which is not supported${near === undefined ? "" : `; did you mean ${near}?`} Use ${listed(PARAMETERS)}`,
    };
  }
  const parameter = (name: (typeof PARAMETERS)[number]): string | undefined =>
    url.searchParams.get(name) || undefined;
  const host = parameter("host") ?? decode(url.hostname).replace(/^\[(.*)\]$/, "$1");
  if (host === "") return { issue: "names no host" };
  if (host.includes(","))
    return { issue: "names several hosts; name one, such as that of a proxy or of the primary" };
  const mode = parameter("sslmode") ?? "prefer";
  if (!isOneOf(SSL_MODES, mode)) return { issue: `has sslmode=${mode}; use ${listed(SSL_MODES)}` };
  const rootCertificates = parameter("sslrootcert");
  if (rootCertificates === SYSTEM_CERTIFICATES && mode !== "verify-full")
    return { issue: `has sslrootcert=system with sslmode=${mode}; it needs sslmode=verify-full` };
  const certificate = parameter("sslcert");
  const key = parameter("sslkey");
  if ((certificate === undefined) !== (key === undefined))
    return { issue: "has only one of sslcert and sslkey; set both or neither" };
  const user = decode(url.username) || "millrace";
  return {
    address: {
      host,
      port: Number(url.port) || DEFAULT_PORT,
      user,
      database: decode(url.pathname.slice(1)) || user,
      applicationName: parameter("application_name") ?? "millrace",
      ssl: { mode: isSocket(host) ? "disable" : mode, rootCertificates, certificate, key },
    },
    password: decode(url.password) || undefined,
  };
}

/** Whether a host is the directory of a Unix socket. */
const isSocket = (host: string): boolean => host.startsWith("/");

/** For messages: the address without user and password. */
export const describeAddress = ({ host, port, database }: PostgresAddress): string =>
  isSocket(host)
    ? `${database} at ${host}`
    : `${database} at ${host.includes(":") ? `[${host}]` : host}:${port}`;

const parseUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that nobody has encoded.
    return text;
  }
}

const isOneOf = <T extends string>(values: readonly T[], value: string): value is T =>
  (values as readonly string[]).includes(value);

const listed = (values: readonly string[]): string => `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
