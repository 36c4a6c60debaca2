/**
 * Tells the lives of a server apart: after a crash, or when a standby takes over, it may give the number of a transaction that it
 * has forgotten to another one, so a number says nothing about a transaction of an earlier life.
 */
import type { ClientBase } from "pg";

/**
 * The start of the server, and its own processes: all of them are replaced after a crash of any, which the start of the server does
 * not show. Those are the processes that belong to no database and no user.
 */
export const INCARNATION = `select extract(epoch from pg_postmaster_start_time()) || '/' || coalesce(
  (select string_agg(pid::text, ' ' order by pid) from pg_stat_activity where datid is null and usesysid is null), '')
  as incarnation`;

const incarnations = new WeakMap<ClientBase, string>();

/** Records in which life of the server a connection was opened. It ends with that life. */
export const setIncarnation = (client: ClientBase, incarnation: string): void =>
  void incarnations.set(client, incarnation);

export const incarnationOf = (client: ClientBase): string | undefined => incarnations.get(client);
