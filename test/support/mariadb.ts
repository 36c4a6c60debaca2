/** A real MariaDB for one test file, with a free port and a new data directory. It must be installed. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import mysql from "mysql2/promise";
import { eventually } from "./eventually.ts";
import { freePort } from "./postgres.ts";

export interface MariaDb {
  /** The URL of the database `shop` for the configuration, without the password. */
  url: string;
  password: string;
  /** Runs statements as the owner of the server. */
  run(sql: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * For `beforeAll`; its `stop` is for `afterAll`.
 * @param sql statements that fill the database `shop`
 */
export async function startMariaDb(sql: string): Promise<MariaDb> {
  const directory = mkdtempSync(join(tmpdir(), "millrace-mariadb-"));
  const [data, socket] = [join(directory, "data"), join(directory, "socket")];
  const user = process.getuid?.() === 0 ? ["--user=root"] : [];
  execFileSync("mariadb-install-db", [
    "--no-defaults",
    `--datadir=${data}`,
    "--auth-root-authentication-method=normal",
    ...user,
  ]);
  const port = await freePort();
  const flags = [`--datadir=${data}`, `--socket=${socket}`, `--port=${port}`, "--bind-address=127.0.0.1"];
  const fast = ["--innodb-flush-log-at-trx-commit=0", "--skip-log-bin", "--skip-name-resolve"];
  const server = spawn("/usr/sbin/mariadbd", ["--no-defaults", ...flags, ...fast, ...user], {
    stdio: "ignore",
  });
  const owner = await eventually(
    () =>
      mysql
        .createConnection({ socketPath: socket, user: "root", multipleStatements: true })
        .catch(() => undefined),
    "MariaDB",
  );
  const password = "a secret of the tests";
  await owner.query(
    `CREATE DATABASE shop; CREATE USER reports@'%' IDENTIFIED BY '${password}'; GRANT ALL ON shop.* TO reports@'%'; USE shop; ${sql}`,
  );
  return {
    url: `mysql://reports@127.0.0.1:${port}/shop`,
    password,
    run: async (text) => void (await owner.query(text)),
    async stop() {
      await owner.end();
      server.kill("SIGTERM");
      await once(server, "exit");
      rmSync(directory, { recursive: true });
    },
  };
}
