/** Checks a state directory after failures of the processes that wrote to it. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect } from "vitest";
import { type ChainLink, chainVerifier } from "../../src/core/audit-chain.ts";
import { toAuditEntry } from "../../src/store/audit-entries.ts";

export interface StoredWorkflow {
  id: string;
  name: string;
  version: number;
  /** The description of each version, oldest first. */
  history: string[];
}

/** Checks that nothing is half-written, and returns the contents. */
export function verifyState(stateDir: string): StoredWorkflow[] {
  const db = new Database(join(stateDir, "millrace.db"));
  try {
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(db.pragma("foreign_key_check")).toEqual([]);
    const workflows = db.prepare("select id, name, description, version from workflows").all() as {
      id: string;
      name: string;
      description: string;
      version: number;
    }[];
    const versions = db.prepare(
      "select version, description from workflow_versions where workflow_id = ? order by version",
    );
    const stored = workflows.map(({ id, name, description, version }) => {
      const history = versions.all(id) as { version: number; description: string }[];
      expect(history.map((it) => it.version)).toEqual(Array.from({ length: version }, (_, i) => i + 1));
      expect(history.at(-1)!.description).toBe(description);
      return { id, name, version, history: history.map((it) => it.description) };
    });
    const changes = stored.reduce((sum, { version }) => sum + version, 0);
    const count = (sql: string): unknown => db.prepare(sql).pluck().get();
    expect(count("select count(*) from workflow_versions")).toBe(changes);
    expect(count("select value from counters where name = 'workflows'")).toBe(changes);
    expect(count("select count(*) from audit_log where operation like '%_workflow'")).toBe(changes);
    verifyAuditChain(db);
    return stored;
  } finally {
    db.close();
  }
}

/** Checks that every entry that this release wrote fits into the chain. */
function verifyAuditChain(db: Database.Database): void {
  const anchor = db.prepare("select value from settings where name = 'audit_anchor'").pluck().get();
  // Without one, this release has written nothing yet.
  if (anchor === undefined) return;
  const start = JSON.parse(anchor as string) as ChainLink;
  const verifier = chainVerifier(start);
  const rows = db.prepare("select * from audit_log where id > ? order by id").all(start.id);
  for (const row of rows) verifier.add(toAuditEntry(row as Parameters<typeof toAuditEntry>[0]));
  expect(verifier.report()).toMatchObject({
    broken: undefined,
    verified: rows.length,
    unhashed: { count: 0 },
  });
}
