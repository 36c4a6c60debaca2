/**
 * The Express baseline: a minimal server with Express and better-sqlite3 on the same database file. It looks the key up by
 * its digest and sends rows with res.json, without validation, log, errors or request ids.
 */
import { createHash } from "node:crypto";
import type { AddressInfo } from "node:net";
import Database from "better-sqlite3";
import express from "express";

const db = new Database(process.argv[2]);
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.pragma("foreign_keys = ON");

const COLUMNS =
  "id, name, description, tags, status, version, published_version, created_at, updated_at, created_by";
const findKey = db.prepare(
  "select id, name, owner, scopes, expires_at, revoked_at from api_keys where digest = ?",
);
const list = db.prepare(
  `select ${COLUMNS} from workflows where status != 'archived' order by created_at desc, id desc`,
);
const find = db.prepare(`select ${COLUMNS} from workflows where id = ?`);
const insertWorkflow = db.prepare(
  "insert into workflows (id, name, name_key, description, tags, search_text, status, version, created_at, updated_at, created_by) values (?, ?, ?, ?, ?, ?, 'draft', 1, ?, ?, ?)",
);
const insertVersion = db.prepare(
  "insert into workflow_versions (workflow_id, version, change, name, description, tags, definition, reason, created_at, created_by, key_name, surface, client) values (?, 1, 'created', ?, ?, ?, null, null, ?, ?, ?, 'rest', ?)",
);
const count = db.prepare("update counters set value = value + 1 where name = 'workflows'");
const audit = db.prepare(
  "insert into audit_log (at, operation, target, owner, key_name, surface, client, request_id) values (?, 'create_workflow', null, ?, ?, 'rest', ?, ?)",
);

const create = db.transaction((name: string, description: string, owner: string, keyName: string) => {
  const now = new Date().toISOString();
  const id = name.toLowerCase().replaceAll(" ", "-");
  insertWorkflow.run(
    id,
    name,
    name.toLowerCase(),
    description,
    "[]",
    `${id}\n${name}\n${description}`,
    now,
    now,
    owner,
  );
  insertVersion.run(id, name, description, "[]", now, owner, keyName, "bench");
  count.run();
  audit.run(now, owner, keyName, "bench", "req_baseline");
  return { id, name, description, tags: [], status: "draft", version: 1, created_at: now, updated_at: now };
}).immediate;

const app = express();
app.use((req, res, next) => {
  const digest = createHash("sha256")
    .update(req.get("X-API-Key") ?? "")
    .digest();
  const key = findKey.get(digest);
  if (key === undefined) res.sendStatus(401);
  else {
    res.locals["key"] = key;
    next();
  }
});
app.get("/workflows", (_req, res) => void res.json(list.all()));
app.get("/workflows/:id", (req, res) => void res.json(find.get(req.params.id)));
app.post("/workflows", express.json(), (req, res) => {
  const { name, description } = req.body as { name: string; description: string };
  const { owner, name: keyName } = res.locals["key"] as { owner: string; name: string };
  res.status(201).json(create(name, description, owner, keyName));
});

const server = app.listen(0, "127.0.0.1", () =>
  process.send!({ port: (server.address() as AddressInfo).port }),
);
