/** What the operations need of the world, as interfaces: the store, the keys, the clock. Siblings meet here. */
import type { Scope, Surface } from "../../schemas/actor.ts";
import type {
  VersionChange,
  WorkflowWithDefinition,
  Workflow,
  WorkflowStatus,
  WorkflowVersion,
} from "../../schemas/workflow.ts";

import type {
  ApiKeyReader,
  ApiKeyWriter,
  AuditReader,
  IdentityReader,
  IdentityWriter,
  LinkReader,
  LinkWriter,
  SessionReader,
  SessionWriter,
  UserReader,
  UserWriter,
} from "./account-ports.ts";
import type { ListPosition, Page } from "./model.ts";
import type { EngineReaders, EngineWriters } from "./run-ports.ts";

export type { ListPosition, Page } from "./model.ts";

/**
 * Whose request this is, and what it may do: a living key, the session of somebody who is signed in, or whoever is at
 * the state directory itself and so could change all of it by hand (the command line; no listener makes this one).
 */
export interface Principal {
  kind: "key" | "session" | "operator";
  /** The key (`key_…`), the session (`ses_…`), or `command-line`. */
  keyId: string;
  /** The key's name; `browser` for a session. */
  keyName: string;
  /** The user's e-mail address, or `operator` for keys made on the command line. */
  owner: string;
  /** A key's scopes cut by what its owner's role allows now; of a session, all that the role allows. */
  scopes: ReadonlySet<Scope>;
  /** What idempotency keys belong to: the same for a key and those it was rotated to; for a session the user's id. */
  lineage: string;
}

/** The program that asks, as it named itself, and the way it came in. */
interface Client {
  surface: Surface;
  name: string;
}

export interface Actor {
  principal: Principal;
  client: Client;
}

export type WorkflowSort = "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name";

export interface WorkflowFilter {
  search?: string | undefined;
  tag?: string | undefined;
  /** Left out: all but archived ones. */
  status?: WorkflowStatus | undefined;
}

export interface WorkflowContent {
  name: string;
  description: string;
  tags: string[];
  definition: Record<string, unknown> | null;
}

export interface Change {
  kind: VersionChange;
  reason: string | null;
  actor: Actor;
}

/** A published version that is offered to agents as a tool of its own. */
export interface ExposedWorkflow {
  id: string;
  name: string;
  description: string;
  definition: Record<string, unknown>;
}

/** Workflows and their history, as they are read. */
export interface WorkflowReader {
  find(id: string): Promise<WorkflowWithDefinition | undefined>;
  page(query: {
    filter: WorkflowFilter;
    sort: WorkflowSort;
    after: ListPosition | null;
    limit: number;
    withDefinition: boolean;
  }): Promise<Page<Workflow>>;
  count(filter: WorkflowFilter): Promise<number>;
  /** A number that grows with every accepted change of any workflow, whichever process made it. */
  revision(): Promise<number>;
  /** Ids that exist, newest first, to find a near match in. */
  recentIds(limit: number): Promise<string[]>;
  /** Those whose published version says `expose_as_tool`, oldest first. */
  exposedAsTools(limit: number): Promise<ExposedWorkflow[]>;
  findVersion(id: string, version: number): Promise<WorkflowVersion | undefined>;
  versions(query: {
    id: string;
    before: number | null;
    limit: number;
    withDefinition: boolean;
  }): Promise<WorkflowVersion[]>;
}

/** The same inside a write transaction. */
export interface WorkflowWriter extends WorkflowReader {
  /**
   * Makes a workflow with an id of its own and its first version.
   * @param wanted the id that it must have (a file names it); left out, it is made from the name
   * @throws AppError version_conflict when the wanted id is taken
   */
  insert(content: WorkflowContent, change: Change, wanted?: string): Promise<WorkflowWithDefinition>;
  /** Says which version is live, and the workflow's status with it; makes no version, and is no update. */
  publish(
    current: WorkflowWithDefinition,
    live: { version: number | null; status: WorkflowStatus },
  ): Promise<WorkflowWithDefinition>;
  /** Makes the next version of `current`. */
  addVersion(
    current: WorkflowWithDefinition,
    next: WorkflowContent & { status: WorkflowStatus },
    change: Change,
  ): Promise<WorkflowWithDefinition>;
  /**
   * Takes a workflow over as another instance has it: its id, its dates, and its whole history, oldest version first.
   * @throws AppError version_conflict when the id is taken
   */
  importWithHistory(
    workflow: Pick<
      Workflow,
      "id" | "status" | "version" | "published_version" | "created_at" | "updated_at" | "created_by"
    >,
    history: AsyncIterable<VersionWithDefinition>,
  ): Promise<void>;
}

/** A version with its definition. */
export type VersionWithDefinition = WorkflowVersion & { definition: Record<string, unknown> | null };

export interface Readers extends EngineReaders {
  workflows: WorkflowReader;
  apiKeys: ApiKeyReader;
  users: UserReader;
  sessions: SessionReader;
  identities: IdentityReader;
  links: LinkReader;
  audit: AuditReader;
}

export interface Writers extends EngineWriters {
  workflows: WorkflowWriter;
  apiKeys: ApiKeyWriter;
  users: UserWriter;
  sessions: SessionWriter;
  identities: IdentityWriter;
  links: LinkWriter;
  /**
   * Writes the audit entry of this change, for what is no workflow.
   * @param outcome what it came to, where the operation alone does not say: it stands behind its name and a dot
   */
  recordAudit(target: string, outcome?: string): Promise<void>;
}

/** What a write is for: it is recorded with it. */
export interface WriteIntent {
  operation: string;
  actor: Actor;
  requestId: string;
  /** The client's idempotency key and the input it came with. */
  idempotency?: { key: string; input: unknown } | undefined;
}

/**
 * The only way in which operations write: effect, idempotency record and audit in one transaction.
 * @throws AppError idempotency_key_reused when the key came with another input before; busy, storage_unavailable
 */
export type UnitOfWork = <T>(intent: WriteIntent, effect: (tx: Writers) => Promise<T>) => Promise<T>;

/** Cursors that only this instance can have made. */
export interface CursorCodec {
  /** @param query the list it belongs to: operation, filters, sort */
  encode(query: string, position: ListPosition): string;
  /** @throws AppError invalid_cursor for a forged cursor and for one of another list */
  decode(query: string, cursor: string): ListPosition;
}

/** A session of a 2025-era MCP client, or an open SSE stream: whose it is, and how it began. */
export interface McpSession {
  id: string;
  keyId: string;
  kind: "http" | "sse";
  /** The `initialize` request, for any copy to replay; null for a stream. */
  initialize: string | null;
}

export interface McpSessionStore {
  find(id: string): Promise<McpSession | undefined>;
  insert(session: McpSession): Promise<void>;
  remove(id: string): Promise<void>;
  /** Says that these are in use (those that nobody names are forgotten), and clears messages that nobody fetched. */
  keepAlive(ids: readonly string[]): Promise<void>;
  /**
   * Passes a message on to the copy that holds the stream.
   * @throws AppError busy when as much as may waits there already
   */
  enqueueMessage(sessionId: string, body: string): Promise<void>;
  /** Takes the messages that wait for these streams, oldest first, `limit` at most. */
  dequeueMessages(
    sessionIds: readonly string[],
    limit: number,
  ): Promise<{ sessionId: string; body: string }[]>;
}
