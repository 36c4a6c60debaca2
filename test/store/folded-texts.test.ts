import { sql } from "kysely";
import { expect, it, onTestFinished } from "vitest";
import { auditReader } from "../../src/store/audit.ts";
import { openStore } from "../../src/store/database.ts";
import { MIGRATIONS } from "../../src/store/migrate.ts";
import { openStateDirectory } from "../../src/store/state-directory.ts";
import { verifyAuditLog } from "../../src/store/verify-audit-chain.ts";
import { workflowReader } from "../../src/store/workflows.ts";
import { noMeter } from "../../src/core/meter.ts";
import { fakeClock } from "../support/clock.ts";
import { temporaryDirectory } from "../support/directories.ts";

/** Those of the release before. */
const OLDER = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === "folded-texts"),
);

async function open(stateDir: string, migrations = MIGRATIONS) {
  const store = await openStore(openStateDirectory(stateDir), fakeClock(), noMeter, migrations);
  onTestFinished(() => store.close());
  return store;
}

it("folds the texts of existing workflows and of the audit log", async () => {
  const stateDir = temporaryDirectory();
  const before = await open(stateDir, OLDER);
  await before.transaction(async (trx) => {
    for (const [id, name, tags] of [
      ["strasse", "Straße", '["Gro\u0308ße"]'],
      ["plain", "Plain", '["Tagged"]'],
      ["many", "Many", "[]"],
    ])
      await sql`insert into workflows (id, name, name_key, description, tags, search_text, status, version, created_at,
        updated_at, created_by) values (${id}, ${name}, ${name!.toLowerCase()}, '', ${tags},
        ${`${id}\n${name}\n${tags}`.toLowerCase()}, 'draft', 1, '', '', '')`.execute(trx);
    for (const client of ["ÄRGER/1", "curl/8", "E\u0301te\u0301"])
      await sql`insert into audit_log (at, operation, target, owner, key_name, surface, client)
        values ('', 'update_workflow', null, 'operator', null, 'rest', ${client})`.execute(trx);
  });
  await before.close();
  const { read, transaction } = await open(stateDir);
  const [workflows, audit] = [workflowReader(read), auditReader(read)];
  const rows = await read.selectFrom("workflows").select(["id", "name_key"]).orderBy("id").execute();
  expect(rows).toEqual([
    { id: "many", name_key: "many" },
    { id: "plain", name_key: "plain" },
    { id: "strasse", name_key: "strasse" },
  ]);
  const filters = [{ search: "STRASSE" }, { search: "größe" }, { tag: "GRÖSSE" }, { tag: "tagged" }];
  expect(await Promise.all(filters.map((filter) => workflows.count(filter)))).toEqual([1, 1, 1, 1]);
  const words = ["ärger/1", "été", "curl", "operator"];
  expect(await Promise.all(words.map((word) => audit.count({ searchTerms: [word] })))).toEqual([1, 1, 1, 3]);
  expect((await verifyAuditLog(read))?.broken).toBeUndefined();
  // An older release that still runs writes in lower case.
  await transaction((trx) =>
    sql`insert into workflows (id, name, name_key, description, tags, search_text, status, version, created_at,
      updated_at, created_by) values ('later', 'Later', 'later', '', '["Größe"]', ${"later\nlater\ngröße\n"}, 'draft', 1, '', '',
      '')`.execute(trx),
  );
  expect(await workflows.count({ tag: "Größe" })).toBe(2);
});
