/** What the model knows: who there is, and what they have made. */

export const OPERATOR = "operator";
export const DEFAULT = "default";

export type Scope = "read" | "write" | "publish" | "run" | "approve" | "admin";
export type Role = "member" | "viewer" | "editor" | "admin";

export interface Person {
  email: string;
  /** The role in the default project; an admin there is one everywhere. */
  role: Role;
  roles: Map<string, Role>;
  isActive: boolean;
}
export interface Actor {
  label: string;
  /** `link`: the recipient of a mail with a link that decides. */
  kind: "session" | "key" | "link";
  /** The address of a person, or `operator`. */
  owner: string;
  /** Who it is to the rules: each key of the operator by itself, and a person with all addresses that differ in a tag, keys and sessions. */
  subject: string;
  /** Whether its credential is valid by itself. */
  isValid: boolean;
  scopes: readonly Scope[];
  projects: readonly string[];
  /** What the key is limited to; what is left out is not limited. */
  limits: Partial<Record<"workflows" | "databases" | "models" | "tools", readonly string[] | undefined>>;
}
export interface State {
  projects: readonly string[];
  people: ReadonlyMap<string, Person>;
  /** The projects that require reviews. */
  reviewed: ReadonlySet<string>;
  /** Who is away, with who stands in for them. */
  absences: ReadonlyMap<string, string>;
}
/** What a definition of the test does; see definitions.ts. */
export interface Content {
  asks: boolean;
  usesDatabase: boolean;
  trigger: "signed" | "unsigned" | null;
  /** The addresses that its approval names, which may decide with the link in a mail; null for none. */
  linksTo: readonly string[] | null;
}
export interface Workflow {
  id: string;
  project: string;
  isArchived: boolean;
  published: number | null;
  /** Whether its schedule is known to be paused: to resume one that runs changes nothing. */
  isPaused: boolean;
  /** From version 1 on. Who wrote it; null where archiving or restoring made it. */
  versions: readonly { by: string | null; content: Content }[];
  /** Each publication reviews a version and those before it; the last one of each person counts. */
  reviews: readonly { version: number; by: string; isPersonal: boolean }[];
  /** The projects whose workflows may call it. */
  offeredTo: readonly string[];
  /** Whom the runs of its schedule and triggers belong to. */
  startsFor: string | null;
}
export interface Run {
  project: string;
  workflow: Workflow | null;
  content: Content;
  /** Whether it runs what no version says: a patch, a single step, given outputs. */
  isUnsaved: boolean;
  /** Whether anybody with the URL of a trigger could have started it, or a run that it repeats. */
  isAnonymous: boolean;
  /** Who wrote its own definition, in this run and those that it retries; null where it follows a version. */
  writers: ReadonlySet<string> | null;
  /** Everyone who caused it, by subject. */
  causes: ReadonlySet<string>;
  /** The versions that take part: its own, those of runs that wait for it, and those that wrote its inputs. */
  versions: readonly { workflow: Workflow; version: number }[];
}
export interface Approval {
  run: Run;
  /** Who holds the place of each assignee; empty where everybody with the scope may decide. */
  seats: ReadonlyMap<string, string>;
}
export interface Review {
  workflow: Workflow;
  version: number;
  /** Who asked, by subject. */
  by: string;
}
/** What a trigger has received. */
export interface Delivery {
  workflow: Workflow;
  /** Who delivered it again, and what it repeats, by subject. */
  causes: ReadonlySet<string>;
}
/** What an operation is about: `any` for nothing, `list` for what the caller can find. */
export type About =
  | "any"
  | "list"
  | "project"
  | "workflow"
  | "run"
  | "bulk_action"
  | "interruption"
  | "approval"
  | "review"
  | "subscription"
  | "delivery";
/** What a request is about, and what it asks for. */
export interface Case {
  project?: string | undefined;
  workflow?: Workflow;
  version?: number;
  /** The run, and for a retry the new one. */
  run?: Run;
  next?: Run;
  bulkAction?: { project: string; workflow: Workflow | null };
  approval?: Approval;
  interruption?: { run: Run };
  review?: Review;
  /** Whether a change takes effect only when it is published, as a new definition does. */
  isDraft?: boolean;
  /** The project that a backfill or backtest was started in. */
  startedIn?: string;
  /** Whether a backtest finds runs to compare with. */
  hasRuns?: boolean;
  /** Whether an admin decides in place of the assignees. */
  override?: boolean;
  /** Another project, or another person, or the person whose absence it is. */
  to?: string;
  person?: string;
  /** The key, or the session. */
  key?: Pick<Actor, "owner">;
  everyone?: boolean;
  /** A key that is created, with the workflows by id. */
  wanted?: Pick<Actor, "scopes" | "projects" | "limits">;
  workflows?: ReadonlyMap<string, Workflow>;
  /** Whether the project requires reviews from then on. */
  requiresReview?: boolean;
  /** The databases that a request names. */
  database?: string;
}
