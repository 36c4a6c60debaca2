/** What to run instead of `backup` and `restore` where a PostgreSQL server holds the state: its own tools are better at it. */
import { describeAddress, type PostgresAddress } from "../core/postgres-address.ts";

/** The options that name the database, for a shell. The password is asked for, or is in PGPASSWORD or a password file. */
const connectionOptions = ({ host, port, user, database }: PostgresAddress): string =>
  `--host=${quoted(host)} --port=${port} --username=${quoted(user)} --dbname=${quoted(database)}`;

/** The message of `backup`. */
export const dumpInstead = (address: PostgresAddress, file: string): string =>
  `The state is in PostgreSQL (${describeAddress(address)}). Back it up with PostgreSQL's own tools, for example:\n` +
  `  pg_dump --format=custom --file=${quoted(file)} ${connectionOptions(address)}\n` +
  "docs/operations.md says how to check that a dump restores.";

/** The message of `restore`. */
export const restoreInstead = (address: PostgresAddress, file: string): string =>
  `The state is in PostgreSQL (${describeAddress(address)}). Restore a dump into an empty database with PostgreSQL's own tools:\n` +
  `  pg_restore --exit-on-error --no-owner ${connectionOptions(address)} ${quoted(file)}\n` +
  "Stop all Millrace processes before, and run millrace doctor --full after it.";

/** A word of a POSIX shell. */
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
