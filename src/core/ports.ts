/** The interfaces of the store for operations. The rules for transactions in src/core/run-ports.ts hold. */
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
  AuditDetails,
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
import type { Access, Visibility } from "./access.ts";
import type { Authorship, Publications, Published } from "./authorship.ts";
import type { ListPosition, Page } from "./model.ts";
import type { ProjectReader, ProjectWriter } from "./project-ports.ts";
import type { ReviewReader, ReviewWriter } from "./review-ports.ts";
import type { EngineReaders, EngineWriters } from "./run-ports.ts";
import type { SubscriptionReader, SubscriptionWriter } from "./subscription-ports.ts";
import type { WorkflowChangeReader } from "./workflow-change-ports.ts";

/**
 * The caller of a request and its scopes. A caller is a valid key, the session of a user, or the operator on the command
 * line, who has access to the state directory itself (no listener authenticates anyone as the operator).
 */
export interface Principal {
  kind: "key" | "session" | "operator";
  /** The key (`key_…`), the session (`ses_…`), or `command-line`. */
  keyId: string;
  /** The key's name; `browser` for a session. */
  keyName: string;
  /** The user's e-mail address, or `operator` for keys made on the command line. */
  owner: string;
  /** What the caller can do at all: its scopes in every project together. */
  scopes: ReadonlySet<Scope>;
  /** What it may see and do in each project. */
  access: Access;
  /** Whether the key is the token of an application that a person connected by signing in. */
  application?: boolean | undefined;
  /** Set for somebody who decides an approval without signing in: the way on which the decision came. */
  decides?: DecisionWay | undefined;
  /** The owner of idempotency keys: the same for a key and its rotations; for a session the user's id. */
  lineage: string;
}

/** How somebody decides an approval who has not signed in. */
export type DecisionWay =
  /** By the link that was sent to the owner: it is used up with the decision. */
  | { via: "link"; digest: Buffer; address: string; visitors: number }
  /** By a button in Slack, as the member whose address is the owner's. */
  | { via: "slack"; team: string; member: string };

/** The client program, as it names itself, and the interface that it uses. */
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
  /** Only these. */
  ids?: readonly string[] | undefined;
  /** Left out, all but archived ones; of `ids` archived ones too. */
  status?: WorkflowStatus | undefined;
  /** Only in this project. */
  project?: string | undefined;
  /** Only what a caller can find; null or left out, everything. */
  visibility?: Visibility | null | undefined;
}

export interface WorkflowContent {
  name: string;
  description: string;
  tags: string[];
  definition: Record<string, unknown> | null;
  /**
   * YAML that says the definition, as it was written; null for none. Left out, a new version has the text of the one before if its
   * definition is the same.
   */
  definition_text?: string | null | undefined;
}

export interface Change {
  kind: VersionChange;
  reason: string | null;
  actor: Actor;
}

/** An admin's consent to expose a workflow as a tool. */
export interface ExposureConsent {
  /** The digest of what was consented to; null for what was exposed before consents were needed. */
  digest: string | null;
  /** The version that was published at the time of the consent. */
  version: number;
  allowedBy: string;
  /** ISO 8601. */
  allowedAt: string;
}

/** A published version that asks to be a tool of its own for agents. */
export interface ExposureRequest {
  id: string;
  project: string;
  version: number;
  name: string;
  description: string;
  definition: Record<string, unknown>;
  /** Who wrote the version: the key's owner. */
  author: string;
  consent: ExposureConsent | null;
}

/** Reads workflows and their versions. */
export interface WorkflowReader {
  find(id: string): Promise<WorkflowWithDefinition | undefined>;
  page(query: {
    filter: WorkflowFilter;
    sort: WorkflowSort;
    after: ListPosition | null;
    limit: number;
    withDefinition: boolean;
  }): Promise<Page<Workflow>>;
  /** Counts up to one more than `MAX_TOTAL`; with a search or a tag, than `MAX_FOUND`. */
  count(filter: WorkflowFilter): Promise<number>;
  /** The project of a workflow; undefined when it does not exist. Cheaper than `find`. */
  projectOf(id: string): Promise<string | undefined>;
  /**
   * A number that grows with every committed change of any workflow, by any process.
   * @param projects only of these projects; null or left out, of all
   */
  revision(projects?: readonly string[] | null): Promise<number>;
  /**
   * The version of each workflow that a run uses when it names none: the published one, or the newest if none is
   * published. Ids that do not exist are left out.
   */
  currentVersions(ids: readonly string[]): Promise<Map<string, number>>;
  /**
   * The same for the runs of a published version: drafts of projects with review are left out, because nobody has
   * reviewed them.
   */
  liveVersions(ids: readonly string[]): Promise<Map<string, number>>;
  /** Existing ids, newest first, to suggest a near match from. */
  recentIds(limit: number, visibility?: Visibility | null): Promise<string[]>;
  /**
   * Ids of the workflows that run this one, with a step or as `on_failure`, sorted; archived ones are left out.
   * @param options.published whether only published versions count; else the newest versions count too
   */
  callers(id: string, options: { published: boolean }): Promise<string[]>;
  /**
   * The workflows of a project that are drafts, with the published workflows that run them: at most `limit` pairs, sorted. Runs
   * of published versions can't call drafts of a project with review.
   */
  liveCallersOfDrafts(project: string, limit: number): Promise<{ draft: string; caller: string }[]>;
  /** Who wrote and reviewed a version and those before it. */
  authorship(id: string, version: number): Promise<Authorship>;
  publications(id: string): Promise<Publications>;
  /** The request of a workflow's published version; undefined when it does not set `expose_as_tool`. */
  exposureRequest(id: string): Promise<ExposureRequest | undefined>;
  /** The consent to a workflow as a tool on record, whether or not the published version asks to be one. */
  exposureConsent(id: string): Promise<ExposureConsent | null>;
  /** The requests of all workflows for which a consent is on record, oldest workflow first. */
  consentedExposures(visibility?: Visibility | null): Promise<ExposureRequest[]>;
  findVersion(id: string, version: number): Promise<WorkflowVersion | undefined>;
  /** The text of the definition of a version, as it was written; null for none. */
  versionText(id: string, version: number): Promise<string | null>;
  /** What `pruneVersions` would prune, by workflow: those without such versions are left out. */
  prunable(rule: PruneRule): Promise<PrunableVersions[]>;
  versions(query: {
    id: string;
    before: number | null;
    limit: number;
    withDefinition: boolean;
  }): Promise<WorkflowVersion[]>;
}

/** Which versions are pruned. Those that are published, or that a run or a schedule refers to, never are. */
export interface PruneRule {
  /** Only versions of this workflow. */
  workflowId?: string | undefined;
  /** Number of the newest versions of each workflow that are kept; at least 1. */
  keep: number;
  /** Only versions that were created before this time. */
  before: string;
}

export interface PrunableVersions {
  workflowId: string;
  versions: number[];
  /** What they count for their authors, in bytes. */
  bytes: number;
}

/** Writes workflows inside a transaction. Every method raises the revision, which locks its row until the end. */
export interface WorkflowWriter extends WorkflowReader {
  /** Records an admin's consent to expose a workflow as a tool, in place of an earlier one. The caller audits it. */
  allowExposure(id: string, consent: ExposureConsent): Promise<void>;
  /** Removes the consent, if there is one. The caller audits it. */
  withdrawExposure(id: string): Promise<void>;
  /**
   * Inserts a workflow with its first version.
   *
   * Guarantee: ids are unique. A second transaction that is about to use the same id waits, then finds it in use.
   * @param options.id the id of the workflow, such as that of a file; left out, the id is derived from the name
   * @param options.project its project; left out, the default one
   * @throws AppError workflow_id_taken when the requested id is taken
   */
  insert(
    content: WorkflowContent,
    change: Change,
    options?: { id?: string | undefined; project?: string | undefined },
  ): Promise<WorkflowWithDefinition>;
  /**
   * Sets the published version and the status, without a new version.
   * Locks: the workflow's row, until the transaction ends.
   * @param current as it was read in this transaction
   */
  publish(
    current: WorkflowWithDefinition,
    live: { version: number | null; status: WorkflowStatus },
  ): Promise<WorkflowWithDefinition>;
  /**
   * Records who published a version, which is a review of it.
   * @returns false when the same person was the last to publish it; nothing is recorded then
   */
  addPublication(published: Published, principal: Principal): Promise<boolean>;
  /**
   * Adds the next version after `current`.
   *
   * Guarantee: version numbers have no gaps and no duplicates (a unique constraint): of two transactions that add a
   * version after the same one, the second must fail or wait and read `current` again.
   * Locks: the workflow's row, until the transaction ends.
   * @param current as it was read in this transaction
   */
  addVersion(
    current: WorkflowWithDefinition,
    next: WorkflowContent & { status: WorkflowStatus },
    change: Change,
  ): Promise<WorkflowWithDefinition>;
  /**
   * Moves a workflow to another project, with its versions and its state. The caller audits it.
   * Locks: the workflow's row, until the transaction ends.
   */
  move(id: string, project: string): Promise<void>;
  /**
   * Deletes the definitions of old versions of one workflow. Their other fields are kept.
   *
   * Guarantee: no version that is published, newest, or used by a run, a pin or a schedule of this moment is pruned.
   * Locks: the workflow's row, until the transaction ends.
   */
  pruneVersions(rule: PruneRule & { workflowId: string }): Promise<PrunableVersions>;
  /**
   * Imports a workflow of another instance with its id, its dates and its whole history, oldest version first.
   * @throws AppError workflow_id_taken when the id is taken
   */
  importWithHistory(
    workflow: Pick<
      Workflow,
      | "id"
      | "status"
      | "version"
      | "published_version"
      | "created_at"
      | "updated_at"
      | "created_by"
      | "project"
    >,
    history: AsyncIterable<VersionWithDefinition>,
  ): Promise<void>;
}

/** A version with its definition. */
export type VersionWithDefinition = WorkflowVersion & Pick<WorkflowContent, "definition" | "definition_text">;

export interface Readers extends EngineReaders {
  subscriptions: SubscriptionReader;
  workflows: WorkflowReader;
  apiKeys: ApiKeyReader;
  users: UserReader;
  sessions: SessionReader;
  identities: IdentityReader;
  links: LinkReader;
  audit: AuditReader;
  workflowChanges: WorkflowChangeReader;
  projects: ProjectReader;
  reviews: ReviewReader;
}

export interface Writers extends EngineWriters {
  subscriptions: SubscriptionWriter;
  workflows: WorkflowWriter;
  apiKeys: ApiKeyWriter;
  users: UserWriter;
  sessions: SessionWriter;
  identities: IdentityWriter;
  links: LinkWriter;
  projects: ProjectWriter;
  reviews: ReviewWriter;
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
