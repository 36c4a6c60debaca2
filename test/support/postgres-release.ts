/** A PostgreSQL server of another release than that from npm, such as the oldest that is supported. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The id of the user nobody: PostgreSQL refuses to run as root. */
const NOBODY = 65_534;

interface ServerOptions {
  databaseDir: string;
  port: number;
  user: string;
  password: string;
  authMethod: string;
  initdbFlags: string[];
  postgresFlags: string[];
}

/** The methods of `EmbeddedPostgres` that tests use. @param folder has `bin/initdb` and `bin/postgres` */
export function otherRelease(
  folder: string,
  { databaseDir, port, user, password, authMethod, initdbFlags, postgresFlags }: ServerOptions,
) {
  const program = (name: string): string => resolve(folder, "bin", name);
  const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined;
  let child: ChildProcess | undefined;
  return {
    async initialise(): Promise<void> {
      mkdirSync(databaseDir, { mode: 0o700 });
      if (owner !== undefined) chownSync(databaseDir, owner.uid, owner.gid);
      const passwordFile = join(databaseDir, "..", "password");
      writeFileSync(passwordFile, `${password}\n`);
      const args = ["-D", databaseDir, "-U", user, `--auth=${authMethod}`, `--pwfile=${passwordFile}`];
      execFileSync(program("initdb"), [...args, ...initdbFlags], { ...owner, stdio: "pipe" });
    },

    start(): Promise<void> {
      const args = ["-D", databaseDir, "-p", String(port), ...postgresFlags];
      const started = spawn(program("postgres"), args, { ...owner, stdio: ["ignore", "ignore", "pipe"] });
      child = started;
      let log = "";
      return new Promise((done, fail) => {
        started.once("error", fail);
        started.once("exit", (code) => fail(new Error(`postgres ended with ${code}:\n${log}`)));
        started.stderr.setEncoding("utf8").on("data", (chunk: string) => {
          log += chunk;
          if (log.includes("ready to accept connections")) done();
        });
      });
    },

    async stop(): Promise<void> {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGINT");
      await exited;
    },
  };
}
