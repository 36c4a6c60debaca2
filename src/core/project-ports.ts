/** The interfaces of the store for projects, their members and grants. The rules for transactions in run-ports.ts hold. */
import type { BacktestRule } from "../../schemas/backtest-rule.ts";
import type { GrantKind, HttpPublic } from "../../schemas/project.ts";
import type { Role } from "../../schemas/user.ts";
import type { Applied } from "./transactions.ts";
import type { PerKeyLimits } from "./usage-limits.ts";

export interface ProjectRecord {
  id: string;
  name: string;
  description: string;
  /** Whether it may use every connection, or only what it is granted. */
  connections: "all" | "granted";
  /** Null: as the configuration says. */
  httpPublic: HttpPublic | null;
  /** Whether publishing needs the review of another person. */
  review: boolean;
  /** What backtest publishing needs; null for none. */
  backtest: BacktestRule | null;
  /** The limits of the project as a whole; null for none. */
  limits: PerKeyLimits | null;
  createdAt: string;
  createdBy: string;
}

export interface ProjectMember {
  project: string;
  /** In lower case. There need not be an account with this address. */
  email: string;
  role: Role;
  addedAt: string;
  addedBy: string;
}

export interface Grant {
  project: string;
  kind: GrantKind;
  name: string;
  options: Readonly<Record<string, unknown>> | null;
  grantedAt: string;
  grantedBy: string;
}

export interface ProjectReader {
  find(id: string): Promise<ProjectRecord | undefined>;
  /** All projects, the default one first, then by id. */
  list(): Promise<ProjectRecord[]>;
  /** Whether there is no project but the default one. */
  isSingle(): Promise<boolean>;
  /** A number that grows with every committed change of a project, a member, a grant or an offer, by any process. */
  revision(): Promise<number>;
  /** Number of workflows, archived ones included, and of runs that belong to a project. */
  contents(project: string): Promise<{ workflows: number; runs: number }>;
  /** The members of a project, by e-mail address. */
  members(project: string): Promise<ProjectMember[]>;
  /** The roles of a person in other projects than the default one, by project. @param email in lower case */
  membershipsOf(email: string): Promise<Map<string, Role>>;
  /** Whether the workflows of a project may call this workflow of another one. */
  isOffered(workflowId: string, project: string): Promise<boolean>;
  /** The projects that a workflow is offered to; `*` stands for every project. */
  offersOf(workflowId: string): Promise<string[]>;
  /** The ids of the workflows of other projects that those of a project may call, as far as these are published. */
  offeredTo(project: string): Promise<string[]>;
  /** The grants of a project, by kind and name. */
  grants(project: string): Promise<Grant[]>;
}

/** What authentication needs to know of projects. */
export type ProjectRoles = Pick<ProjectReader, "isSingle" | "membershipsOf">;

/** Writes inside a transaction. Every method raises the revision, which locks its row until the end; the caller audits. */
export interface ProjectWriter extends ProjectReader {
  /**
   * Refuses what older releases would not respect while a copy of one runs, and keeps them from starting from now on.
   * Called before the first second project, limited key or review. It does not raise the revision.
   * @throws AppError upgrade_unfinished
   */
  assertNoOlderCopies(): Promise<void>;
  /** @returns false when the id is taken; nothing is written then */
  insertUnlessTaken(project: ProjectRecord): Promise<Applied>;
  update(id: string, change: Partial<Omit<ProjectRecord, "id" | "createdAt" | "createdBy">>): Promise<void>;
  /** Deletes a project with its members and grants. The caller has made sure that nothing else belongs to it. */
  remove(id: string): Promise<void>;
  /** Inserts or replaces a member. */
  saveMember(member: ProjectMember): Promise<void>;
  /** @returns false when there was no such member */
  removeMember(project: string, email: string): Promise<boolean>;
  /** Replaces what a workflow is offered to. */
  saveOffers(workflowId: string, projects: readonly string[], by: string, at: string): Promise<void>;
  /** Inserts or replaces a grant. */
  saveGrant(grant: Grant): Promise<void>;
  /** @returns false when there was no such grant */
  removeGrant(grant: Pick<Grant, "project" | "kind" | "name">): Promise<boolean>;
}
