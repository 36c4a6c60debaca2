/** The interfaces of the store for workflows and their versions. The rules for transactions in src/core/run-ports.ts hold. */
import type {
  VersionChange,
  WorkflowWithDefinition,
  Workflow,
  WorkflowStatus,
  WorkflowVersion,
} from "../../schemas/workflow.ts";
import type { Visibility } from "./access.ts";
import type { Authorship } from "./authorship.ts";
import type { ListPosition, Page } from "./model.ts";
import type { Actor, Principal } from "./principal.ts";

export type WorkflowSort = "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name";

export interface WorkflowFilter {
  search?: string | undefined;
  tag?: string | undefined;
  /** Left out, all but archived ones. */
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
}

export interface Change {
  kind: VersionChange;
  reason: string | null;
  actor: Actor;
  /**
   * The text that parses to exactly the new definition (definition-source.ts); null for none. Left out, the text of the version
   * before stays if its definition does.
   */
  source?: string | null;
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

/** What a list of links to workflows shows. */
export type WorkflowBrief = Pick<Workflow, "id" | "name" | "status" | "project">;

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
  /** Name, project and status of those of the ids that exist, sorted by name. */
  briefs(ids: readonly string[], visibility?: Visibility | null): Promise<WorkflowBrief[]>;
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
  /** The request of a workflow's published version; undefined when it does not set `expose_as_tool`. */
  exposureRequest(id: string): Promise<ExposureRequest | undefined>;
  /** The consent to a workflow as a tool on record, whether or not the published version asks to be one. */
  exposureConsent(id: string): Promise<ExposureConsent | null>;
  /** The requests of all workflows for which a consent is on record, oldest workflow first. */
  consentedExposures(visibility?: Visibility | null): Promise<ExposureRequest[]>;
  findVersion(id: string, version: number): Promise<WorkflowVersion | undefined>;
  /** The text that the definition of a version was read from, with its comments; null if none is kept. */
  source(id: string, version: number): Promise<string | null>;
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
   * @throws AppError version_conflict when the requested id is taken
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
  addPublication(published: { id: string; version: number }, principal: Principal): Promise<boolean>;
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
   * @throws AppError version_conflict when the id is taken
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
export type VersionWithDefinition = WorkflowVersion & { definition: Record<string, unknown> | null };
