/** What the model knows: who there is, and what they have made. */
import type { Role, Scope } from "./needs.ts";

export const OPERATOR = "operator";
export const DEFAULT = "default";

export interface Person {
  email: string;
  /** The role in the default project; an admin there is one everywhere. */
  role: Role;
  roles: Map<string, Role>;
  isActive: boolean;
}
export interface Actor {
  label: string;
  kind: "session" | "key";
  /** The address of a person, or `operator`. */
  owner: string;
  /** Who it is to the rules: each key of the operator by itself, and a person with all keys and sessions. */
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
}
/** What a definition of the test does; see definitions.ts. */
export interface Content {
  asks: boolean;
  usesDatabase: boolean;
  trigger: "signed" | "unsigned" | null;
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
}
export interface Run {
  project: string;
  workflow: Workflow | null;
  content: Content;
  /** Whether it runs what no version says: a patch, a single step, given outputs. */
  isUnsaved: boolean;
  /** Whether anybody with the URL of a trigger could have started it, or a run that it repeats. */
  isAnonymous: boolean;
  /** Everyone who caused it, by subject. */
  causes: ReadonlySet<string>;
  /** The versions that take part: its own, and those of runs that wait for it. */
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
