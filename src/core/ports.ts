/** The interfaces of the store for operations. The rules for transactions in src/core/run-ports.ts hold. */
import type { FactorReader, FactorWriter } from "./factor-ports.ts";
import type {
  ApiKeyReader,
  ApiKeyWriter,
  AuditDetails,
  AuditReader,
  IdentityReader,
  IdentityWriter,
  LinkReader,
  LinkWriter,
  UserReader,
  UserWriter,
} from "./account-ports.ts";
import type { BookmarkReader, BookmarkWriter } from "./bookmark-ports.ts";
import type { ListPosition } from "./model.ts";
import type { ProjectReader, ProjectWriter } from "./project-ports.ts";
import type { Actor } from "./principal.ts";
import type { ReviewReader, ReviewWriter } from "./review-ports.ts";
import type { EngineReaders, EngineWriters } from "./run-ports.ts";
import type { SessionReader, SessionWriter } from "./session-ports.ts";
import type { SubscriptionReader, SubscriptionWriter } from "./subscription-ports.ts";
import type { WorkflowReader, WorkflowWriter } from "./workflow-ports.ts";
import type { WorkflowChangeReader } from "./workflow-change-ports.ts";

export interface Readers extends EngineReaders {
  subscriptions: SubscriptionReader;
  workflows: WorkflowReader;
  apiKeys: ApiKeyReader;
  users: UserReader;
  sessions: SessionReader;
  identities: IdentityReader;
  links: LinkReader;
  factors: FactorReader;
  audit: AuditReader;
  workflowChanges: WorkflowChangeReader;
  projects: ProjectReader;
  reviews: ReviewReader;
  bookmarks: BookmarkReader;
}

export interface Writers extends EngineWriters {
  subscriptions: SubscriptionWriter;
  workflows: WorkflowWriter;
  apiKeys: ApiKeyWriter;
  users: UserWriter;
  sessions: SessionWriter;
  identities: IdentityWriter;
  links: LinkWriter;
  factors: FactorWriter;
  projects: ProjectWriter;
  reviews: ReviewWriter;
  bookmarks: BookmarkWriter;
  /**
   * Writes the audit entry of a change; the writer of workflows does this itself.
   *
   * Locks: the newest entry, until the transaction ends (src/store/audit-entries.ts).
   * @param outcome what happened, if the operation's name doesn't say it; appended to that name after a dot
   * @param more.project the project, where it is not that of the target: a workflow, run, approval or review
   * @param more.details what else is worth a record: names and numbers, never values of runs or secrets
   */
  recordAudit(
    target: string,
    outcome?: string,
    more?: { project?: string; details?: AuditDetails },
  ): Promise<void>;
  workflowChanges: Pick<WorkflowChangeReader, "hasChangedAfter">;
}

/** The request that a write belongs to, recorded with it. */
export interface WriteIntent {
  operation: string;
  actor: Actor;
  requestId: string;
  /** The client's idempotency key and the input it came with. */
  idempotency?: { key: string; input: unknown } | undefined;
}

/**
 * Runs `effect` in one transaction with its audit entry and its idempotency record. Operations write in no other way.
 *
 * Guarantee: an idempotency key (of one lineage and one operation) takes effect once within 24 hours. Its record is
 * inserted before the effect and gets the result after it, in the same transaction: a failed effect leaves none.
 * Concurrent callers: a second request with the same key waits while the first one runs, then gets its result; if the
 * first one fails, it runs the effect itself.
 * @throws AppError idempotency_key_reused when the key was used with a different input; busy, storage_unavailable
 */
export type UnitOfWork = <T>(intent: WriteIntent, effect: (tx: Writers) => Promise<T>) => Promise<T>;

/** Encodes list positions as cursors, which only this instance can create. */
export interface CursorCodec {
  /** @param query identifies the list: operation, filters, sort */
  encode(query: string, position: ListPosition): string;
  /** @throws AppError invalid_cursor for a forged cursor, or one of a different list */
  decode(query: string, cursor: string): ListPosition;
  /** A text that stands for a number and shows nothing of it: the same one each time. @param number an integer from 0 */
  seal(number: number): string;
  /** @throws AppError invalid_cursor for a text that `seal` has not returned */
  unseal(sealed: string): number;
}
