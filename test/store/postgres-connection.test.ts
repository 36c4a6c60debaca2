import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { readStateDatabase } from "../../src/config/state-database.ts";
import { parsePostgresUrl } from "../../src/core/postgres-address.ts";
import { systemClock } from "../../src/core/clock.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { untilPassing } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { PASSWORD, type Postgres, startPostgres } from "../support/postgres.ts";
import { CERTIFICATE, KEY } from "../support/tls-server.ts";

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** Turns TLS on or off. The server itself writes the key, because it must own the file. */
async function setTls(on: boolean): Promise<void> {
  const admin = await server.connect();
  const { rows } = await admin.query<{ data_directory: string }>("show data_directory");
  const directory = rows[0]!.data_directory;
  for (const [name, text] of Object.entries({ "server.key": KEY, "server.crt": CERTIFICATE })) {
    const lines = `string_to_array('${text.trim()}', e'\\n')`;
    await admin.query(`copy (select unnest(${lines})) to '${directory}/${name}'`);
    chmodSync(join(directory, name), 0o600);
  }
  await admin.query(`alter system set ssl = ${on ? "on" : "off"}`);
  await admin.query("select pg_reload_conf()");
  await untilPassing(async () => {
    expect(await connect(at(""))).toBe(on);
  });
  await admin.end();
}

/** Opens a store with variables of the environment. @returns whether its connections use TLS */
async function connect(env: Record<string, string>): Promise<boolean> {
  const { database, issues } = readStateDatabase(env, env);
  expect(issues).toEqual([]);
  const store = await openPostgresStore({ database: database!, clock: systemClock });
  onTestFinished(() => store.close());
  const { rows } = await sql<{ ssl: boolean }>`
    select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(store.read);
  return rows[0]!.ssl;
}

const at = (parameters: string, host = "127.0.0.1") => ({
  MILLRACE_DATABASE_URL: `postgres://postgres@${host}:${server.port}/postgres?${parameters}`,
  MILLRACE_DATABASE_PASSWORD: PASSWORD,
});

function certificateFile(text: string): string {
  const path = join(temporaryDirectory(), "root.crt");
  writeFileSync(path, text);
  return path;
}

describe("sslmode", () => {
  it("without TLS at the server connects with disable and prefer, and is refused otherwise", async () => {
    await setTls(false);
    expect(await connect(at(""))).toBe(false);
    expect(await connect(at("sslmode=prefer"))).toBe(false);
    expect(await connect(at("sslmode=disable"))).toBe(false);
    for (const mode of ["require", "verify-ca", "verify-full"])
      await expect(connect(at(`sslmode=${mode}`))).rejects.toThrow(/accepts no TLS/);
  });

  it("with TLS checks as much of the certificate as it says", async () => {
    await setTls(true);
    const root = `sslrootcert=${certificateFile(CERTIFICATE)}`;
    const refused = /The certificate of the database is not accepted/;
    expect(await connect(at("sslmode=disable"))).toBe(false);
    expect(await connect(at(""))).toBe(true);
    expect(await connect(at("sslmode=require"))).toBe(true);
    // Nobody that the system trusts has signed it.
    await expect(connect(at("sslmode=verify-ca"))).rejects.toThrow(refused);
    await expect(connect(at("sslmode=verify-full&sslrootcert=system"))).rejects.toThrow(refused);
    expect(await connect(at(`sslmode=verify-ca&${root}`))).toBe(true);
    expect(await connect(at(`sslmode=verify-full&${root}`))).toBe(true);
    // The certificate names the address, and not this name.
    expect(await connect(at(`sslmode=verify-ca&${root}`, "localhost"))).toBe(true);
    expect(await connect(at(`sslmode=require&${root}`, "localhost"))).toBe(true);
    await expect(connect(at(`sslmode=verify-full&${root}`, "localhost"))).rejects.toThrow(refused);
    await expect(connect(at("sslmode=verify-ca&sslrootcert=/nowhere/root.crt"))).rejects.toThrow(
      "The file that sslrootcert of the database's URL names can't be read (ENOENT): /nowhere/root.crt.",
    );
  });
});

const serverUrl = () => `postgres://postgres@127.0.0.1:${server.port}/postgres`;

describe("the password of the database", () => {
  it("is read from its file again for each connection", async () => {
    const file = join(temporaryDirectory(), "password");
    writeFileSync(file, "an old one\n");
    const env = { MILLRACE_DATABASE_URL: serverUrl(), MILLRACE_DATABASE_PASSWORD_FILE: file };
    const variables = { ...env, MILLRACE_DATABASE_PASSWORD: "an old one" };
    const { database } = readStateDatabase(env, variables);
    const open = () => openPostgresStore({ database: database!, clock: systemClock });
    await expect(open()).rejects.toThrow(/refuses the user or the password/);
    writeFileSync(file, `${PASSWORD}\n`);
    await (await open()).close();
  });

  it("is what a command prints, which sees only the variables that are named", async () => {
    const directory = temporaryDirectory();
    const script = join(directory, "get-password");
    writeFileSync(script, '#!/bin/sh\necho "$1 secret$SUFFIX of $HIDDEN$WHOSE tests"\n');
    chmodSync(script, 0o755);
    const env = {
      PATH: process.env["PATH"]!,
      SUFFIX: "",
      HIDDEN: "never ",
      WHOSE: "the",
      MILLRACE_DATABASE_URL: serverUrl(),
      MILLRACE_DATABASE_PASSWORD_COMMAND: `${script} a`,
      MILLRACE_DATABASE_PASSWORD_COMMAND_ENV: "SUFFIX, WHOSE",
    };
    await connect(env);
    await connect({ ...env, MILLRACE_DATABASE_PASSWORD_COMMAND: JSON.stringify([script, "a"]) });
    writeFileSync(script, '#!/bin/sh\necho "top secret" >&2; exit 3\n');
    await expect(connect(env)).rejects.toThrow(
      "The password of the database can't be read: MILLRACE_DATABASE_PASSWORD_COMMAND ended with exit code 3.",
    );
  });
});

describe("the URL of the database", () => {
  it.each([
    ["mysql://a/b", /must be a URL that begins with postgres:/],
    ["postgres://u:top-secret@h:port/d", /must be a URL that .*its value is not shown/],
    [
      "postgres://h/d?sslmode=allow",
      /has sslmode=allow; use disable, prefer, require, verify-ca or verify-full/,
    ],
    [
      "postgres://h/d?sslmod=require",
      /has the parameter sslmod, which is not supported; did you mean sslmode\?/,
    ],
    ["postgres://h/d?sslmode=require&sslrootcert=system", /it needs sslmode=verify-full/],
    ["postgres://h/d?sslcert=/a", /has only one of sslcert and sslkey/],
    ["postgres:///d", /names no host/],
    ["postgres:///d?host=a,b", /names several hosts/],
  ])("%s is refused", (url, issue) => {
    const parsed = parsePostgresUrl(url);
    expect(parsed).toEqual({ issue: expect.stringMatching(issue) as string });
    expect(JSON.stringify(parsed)).not.toContain("top-secret");
  });

  it("has the defaults of libpq, and may name the directory of a socket", () => {
    expect(parsePostgresUrl("postgresql://ann:p%40ss@db.example.com")).toEqual({
      address: {
        host: "db.example.com",
        port: 5432,
        user: "ann",
        database: "ann",
        applicationName: "millrace",
        ssl: { mode: "prefer", rootCertificates: undefined, certificate: undefined, key: undefined },
      },
      password: "p@ss",
    });
    expect(parsePostgresUrl("postgres:///state?host=/run/postgresql")).toMatchObject({
      address: { host: "/run/postgresql", database: "state", ssl: { mode: "disable" } },
    });
  });

  it("and the password are named once", () => {
    const MILLRACE_DATABASE_URL = "postgres://u:top-secret@h/d";
    const both = { MILLRACE_DATABASE_URL, MILLRACE_DATABASE_PASSWORD: "other" };
    expect(readStateDatabase(both, both).issues).toEqual([
      "a password in MILLRACE_DATABASE_URL and MILLRACE_DATABASE_PASSWORD are both set. Set only one of them",
    ]);
    expect(readStateDatabase({ MILLRACE_DATABASE_URL }, { MILLRACE_DATABASE_URL }).masked).toEqual([
      "top-secret",
    ]);
    const alone = { MILLRACE_DATABASE_PASSWORD: "other" };
    expect(readStateDatabase(alone, alone).warnings).toEqual([
      "MILLRACE_DATABASE_PASSWORD has no effect without MILLRACE_DATABASE_URL",
    ]);
  });
});
