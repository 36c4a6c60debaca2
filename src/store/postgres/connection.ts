/** Connections to the PostgreSQL server: their TLS as libpq means `sslmode`, and the password of their time. */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { checkServerIdentity, type ConnectionOptions } from "node:tls";
import { type ClientConfig, type CustomTypesConfig, types as pgTypes } from "pg";
import { AppError } from "../../core/errors.ts";
import {
  type PostgresAddress,
  type StateDatabase,
  SYSTEM_CERTIFICATES,
} from "../../core/postgres-address.ts";

/** Maximum wait for a connection, in milliseconds. */
const CONNECT_MS = 5_000;
/** After this time without data, in milliseconds, it is checked whether the other side is there. */
const KEEP_ALIVE_MS = 10_000;
/** The request for TLS that begins a connection. @see https://www.postgresql.org/docs/current/protocol-message-formats.html */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const ACCEPTED = "S".charCodeAt(0);

/** Counts and sums are numbers, as in SQLite, rather than text. */
const NUMBERS: ReadonlySet<number> = new Set([pgTypes.builtins.INT8, pgTypes.builtins.NUMERIC]);

const types: CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    NUMBERS.has(oid) ? Number : (pgTypes.getTypeParser(oid, format) as (value: string) => unknown),
};

/**
 * Returns the options of all connections to a database.
 * @throws AppError storage_unavailable when a certificate can't be read; the error of the connection with `sslmode=prefer`
 */
export async function connectionConfig({
  address,
  readPassword,
}: Pick<StateDatabase, "address" | "readPassword">): Promise<ClientConfig> {
  const { host, port, user, database, applicationName } = address;
  return {
    host,
    port,
    user,
    database,
    // The driver expects a text where none is asked for either.
    password: async () => (await readPassword()) ?? "",
    ssl: (await usesTls(address)) ? tlsOptions(address) : false,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types,
  };
}

/** With `prefer`, the server decides. */
const usesTls = async (address: PostgresAddress): Promise<boolean> =>
  address.ssl.mode === "prefer" ? acceptsTls(address) : address.ssl.mode !== "disable";

/** Asks the server whether it accepts TLS. */
function acceptsTls({ host, port }: PostgresAddress): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: CONNECT_MS }, () => socket.write(SSL_REQUEST));
    const settle = (end: () => void) => (): void => {
      socket.destroy();
      end();
    };
    socket.once("data", (answer) => settle(() => resolve(answer[0] === ACCEPTED))());
    const lost = (code: string) => settle(() => reject(Object.assign(new Error(code), { code })));
    socket.once("timeout", lost("ETIMEDOUT"));
    socket.once("end", lost("ECONNRESET"));
    socket.once("error", reject);
  });
}

/** @see https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-PROTECTION */
function tlsOptions({ host, ssl }: PostgresAddress): ConnectionOptions {
  const { mode, rootCertificates, certificate, key } = ssl;
  const hasRoot = rootCertificates !== undefined && rootCertificates !== SYSTEM_CERTIFICATES;
  // As in libpq, a root certificate is used where it is given.
  const verifies = mode === "verify-ca" || mode === "verify-full" || (mode === "require" && hasRoot);
  return {
    rejectUnauthorized: verifies,
    ...(hasRoot && { ca: readPem("sslrootcert", rootCertificates) }),
    ...(certificate !== undefined && { cert: readPem("sslcert", certificate) }),
    ...(key !== undefined && { key: readPem("sslkey", key) }),
    checkServerIdentity: (_, peer) => (mode === "verify-full" ? checkServerIdentity(host, peer) : undefined),
  };
}

function readPem(parameter: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    throw new AppError(
      "storage_unavailable",
      `The file that ${parameter} of the database's URL names can't be read (${code}): ${path}. Check the path and its permissions.`,
      { cause: error },
    );
  }
}
