/** The world around Millrace in one task: its directory, databases, services and what reached them. */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import type { Effect } from "./effects.ts";
import { type HelpdeskPeer, startHelpdeskPeer, type Ticket } from "./peers/helpdesk-peer.ts";
import { type HttpPeer, type PeerReply, type PeerRequest, startHttpPeer } from "./peers/http-peer.ts";
import { type MailPeer, startMailPeer } from "./peers/mail-peer.ts";
import { startModelPeer } from "./peers/model-peer.ts";

export interface World {
  directory: string;
  /** Everything that reached the outside world so far, oldest first. */
  effects: Effect[];
  /** `host:port` of each service, in the order of their start. They differ in every world. */
  hosts: string[];
  /** Creates an SQLite file with these statements, and returns its path. */
  sqlite(name: string, sql: string): string;
  /** Executes statements in an SQLite file, and returns the rows of a query. */
  query(path: string, sql: string, ...params: SQLInputValue[]): Record<string, unknown>[];
  /** Creates a DuckDB file with these statements, and returns its path. */
  duckdb(name: string, sql: string): Promise<string>;
  http(answer: (request: PeerRequest) => PeerReply): Promise<HttpPeer>;
  model(choose: (prompt: string) => string): Promise<HttpPeer>;
  mail(): Promise<MailPeer>;
  helpdesk(tickets: readonly Ticket[]): Promise<HelpdeskPeer>;
  close(): Promise<void>;
}

const query: World["query"] = (path, sql, ...params) => {
  const db = new DatabaseSync(path);
  try {
    return db.prepare(sql).all(...params);
  } finally {
    db.close();
  }
};

/** Opens an empty world. @param directory an empty directory for its files */
export function openWorld(directory: string): World {
  const effects: Effect[] = [];
  const hosts: string[] = [];
  const peers: { close(): Promise<void> }[] = [];
  const opened = <P extends { close(): Promise<void> }>(peer: P, host: string): P => {
    peers.push(peer);
    hosts.push(host);
    return peer;
  };
  return {
    directory,
    effects,
    hosts,
    query,
    sqlite(name, sql) {
      const path = join(directory, `${name}.db`);
      const db = new DatabaseSync(path);
      db.exec(sql);
      db.close();
      return path;
    },
    async duckdb(name, sql) {
      const path = join(directory, `${name}.duckdb`);
      const instance = await DuckDBInstance.create(path);
      const connection = await instance.connect();
      await connection.run(sql);
      connection.closeSync();
      instance.closeSync();
      return path;
    },
    async http(answer) {
      const peer = await startHttpPeer(answer, effects);
      return opened(peer, peer.host);
    },
    async model(choose) {
      const peer = await startModelPeer(choose);
      return opened(peer, peer.host);
    },
    async mail() {
      const peer = await startMailPeer(effects);
      return opened(peer, `127.0.0.1:${peer.port}`);
    },
    async helpdesk(tickets) {
      const peer = await startHelpdeskPeer(tickets, effects);
      return opened(peer, peer.host);
    },
    close: async () => void (await Promise.all(peers.map((peer) => peer.close()))),
  };
}
