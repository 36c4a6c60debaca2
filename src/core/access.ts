/** What a caller may see and do: its scopes in each project, and the limits of its key. */
import { Scope } from "../../schemas/actor.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import { Role, ROLE_SCOPES, type UserRole } from "../../schemas/user.ts";

/** What a key is limited to. What is left out, or null, is not limited. */
export interface KeyLimits {
  /** Ids of the workflows that it sees and runs. It can create none. */
  workflows?: readonly string[] | undefined;
  /** Names of the operations, and of the tools of exposed workflows, that it may use. */
  tools?: readonly string[] | undefined;
  /** Names of the databases that its requests and runs may use. */
  databases?: readonly string[] | undefined;
  /** Names of the models that its requests and runs may use. */
  models?: readonly string[] | undefined;
}

/**
 * The scopes that a key can have if it is limited to workflows: it sees and runs these. With others it could change what they
 * do, and so run others through them, or read about others.
 */
export const SCOPES_WITHIN_WORKFLOWS: readonly Scope[] = ["read", "run", "approve"];

export interface Access {
  /** The scopes in every project, also in those that are made later; null for a caller of the projects below. */
  everywhere: ReadonlySet<Scope> | null;
  /** The scopes by project. Empty if `everywhere` is set. A project without scopes is missing. */
  projects: ReadonlyMap<string, ReadonlySet<Scope>>;
  /** Null for a caller without limits of a key. */
  keyLimits: KeyLimits | null;
  /** Whether there are several projects, where `everywhere` is set: else nothing mentions projects to the caller. */
  severalProjects?: boolean | undefined;
  /** What the access of a key is made of, to say what stands in the way; undefined for a person. */
  key?: KeyOrigin | undefined;
}

/** A key by itself, and what its owner may do. */
interface KeyOrigin {
  scopes: readonly Scope[];
  projects: readonly string[];
  owner: Access;
}

const NONE: ReadonlySet<Scope> = new Set();

/** The same scopes in every project. */
export const accessEverywhere = (scopes: Iterable<Scope>): Access => ({
  everywhere: new Set(scopes),
  projects: new Map(),
  keyLimits: null,
});

/** Nothing: of changes that are nobody's request for an operation, such as a sign-in. */
export const NO_ACCESS = accessEverywhere([]);

/** Everything in every project: the operator at the command line. */
export const FULL_ACCESS = accessEverywhere(Scope.options);

/** The scopes of a caller in a project; empty where it has none. */
export const scopesIn = ({ everywhere, projects }: Access, project: string): ReadonlySet<Scope> =>
  everywhere ?? projects.get(project) ?? NONE;

/** The role of a caller in a project, which of a key is that of its owner; null for none. */
export function roleIn(access: Access, project: string): Role | null {
  const scopes = scopesIn(access.key?.owner ?? access, project);
  return Role.options.findLast((role) => ROLE_SCOPES[role].every((scope) => scopes.has(scope))) ?? null;
}

/** Whether a caller administers the instance: its users, its projects, and everybody's keys. */
export const isInstanceAdmin = (access: Access): boolean => scopesIn(access, DEFAULT_PROJECT).has("admin");

/** The union of the scopes over all projects: what a caller can do at all. */
export function scopesOf({ everywhere, projects }: Access): ReadonlySet<Scope> {
  if (everywhere !== null) return everywhere;
  const union = new Set<Scope>();
  for (const scopes of projects.values()) for (const scope of scopes) union.add(scope);
  return union;
}

/** The operation with which each key learns what it can do, whatever it is limited to. */
const DESCRIBE_KEY = "describe_key";

/** Whether a caller may use an operation whatever its scopes and limits are: a key that describes itself. */
export const isAlwaysAllowed = ({ key }: Access, name: string): boolean =>
  key !== undefined && name === DESCRIBE_KEY;

/** Whether a caller may use an operation, or the tool of an exposed workflow, as far as the limits of its key say. */
export const mayUseTool = (access: Access, name: string): boolean =>
  isAlwaysAllowed(access, name) || access.keyLimits?.tools?.includes(name) !== false;

/** Whether a caller works in several projects, so that requests of it can name one. */
export const choosesProject = ({ everywhere, projects, severalProjects }: Access): boolean =>
  everywhere === null ? projects.size > 1 : severalProjects === true;

/** What a caller can find: projects and workflows by their ids; null stands for all of them. */
export interface Visibility {
  projects: readonly string[] | null;
  workflows: readonly string[] | null;
}

/**
 * What a caller can find with a scope.
 * @returns null if it can find everything
 */
export function visibilityOf(access: Access, scope: Scope): Visibility | null {
  const { everywhere, projects, keyLimits } = access;
  const workflows = keyLimits?.workflows ?? null;
  if (everywhere !== null)
    return workflows === null && everywhere.has(scope)
      ? null
      : { projects: everywhere.has(scope) ? null : [], workflows };
  const ids = [...projects].filter(([, scopes]) => scopes.has(scope)).map(([id]) => id);
  return { projects: ids.toSorted(), workflows };
}

/**
 * Whether something in a project, and of a workflow, can be found. Nobody who is limited to workflows can find what belongs
 * to none (`workflowId: null`).
 */
export const isVisible = (
  visibility: Visibility | null,
  { project, workflowId }: { project: string; workflowId?: string | null | undefined },
): boolean =>
  visibility === null ||
  (visibility.projects?.includes(project) !== false &&
    (workflowId === undefined ||
      visibility.workflows === null ||
      (workflowId !== null && visibility.workflows.includes(workflowId))));

/** A text that two callers have in common only if they can find the same. */
export const visibilityKey = (visibility: Visibility | null): string =>
  visibility === null ? "*" : JSON.stringify([visibility.projects, visibility.workflows]);

/** A text that two accesses have in common only if they are the same. */
export const accessText = ({ everywhere, projects, keyLimits }: Access): string =>
  JSON.stringify([
    everywhere && [...everywhere].toSorted(),
    [...projects].map(([id, scopes]) => [id, ...[...scopes].toSorted()].join(" ")).toSorted(),
    keyLimits,
  ]);

const includes = (scopes: ReadonlySet<Scope>, earlier: ReadonlySet<Scope>): boolean =>
  [...earlier].every((scope) => scopes.has(scope));

/** Whether an access allows everything that an earlier one of the same key or session did. Limits of keys do not change. */
export function includesAccess(now: Access, before: Access): boolean {
  if (before.everywhere === null)
    return [...before.projects].every(([project, scopes]) => includes(scopesIn(now, project), scopes));
  if (before.severalProjects === true && now.everywhere === null) return false;
  // Where the default project was the only one, there may be others now.
  return includes(scopesIn(now, DEFAULT_PROJECT), before.everywhere);
}

/** The roles of a person. */
export interface Roles {
  /** The role of the person in the default project; `admin` is one in every project. */
  role: UserRole;
  /** The roles in other projects, by project. */
  memberships: ReadonlyMap<string, Role>;
  /** Whether there is no project but the default one. */
  isSingleProject: boolean;
}

/** The memberships of a person without any. */
export const NO_MEMBERSHIPS: Roles["memberships"] = new Map();

/** The access of a person who is signed in. */
export function accessOfPerson({ role, memberships, isSingleProject }: Roles): Access {
  const scopes = new Set(ROLE_SCOPES[role]);
  if (isSingleProject) return accessEverywhere(scopes);
  if (role === "admin") return { ...accessEverywhere(scopes), severalProjects: true };
  const roles = [[DEFAULT_PROJECT, role] as const, ...memberships];
  return {
    everywhere: null,
    projects: new Map(
      roles.flatMap(([project, held]) =>
        ROLE_SCOPES[held].length === 0 ? [] : [[project, new Set(ROLE_SCOPES[held])] as const],
      ),
    ),
    keyLimits: null,
  };
}

/**
 * The access of an API key: its scopes in each of its projects, as far as its owner's role there allows them now.
 * @param owner null for a key of the operator, who is not a user
 */
export function accessOfKey(
  key: { scopes: readonly Scope[]; projects: readonly string[]; limits: KeyLimits | null },
  owner: Roles | null,
  isSingleProject: boolean,
): Access {
  const person = owner === null ? FULL_ACCESS : accessOfPerson(owner);
  const origin = { scopes: key.scopes, projects: key.projects, owner: person };
  const isLimited = key.limits?.workflows !== undefined;
  const usable = key.scopes.filter((scope) => !isLimited || SCOPES_WITHIN_WORKFLOWS.includes(scope));
  const inProject = (project: string): ReadonlySet<Scope> => {
    const allowed = scopesIn(person, project);
    return new Set(usable.filter((scope) => allowed.has(scope)));
  };
  if (isSingleProject && key.projects.includes(DEFAULT_PROJECT))
    return {
      everywhere: inProject(DEFAULT_PROJECT),
      projects: new Map(),
      keyLimits: key.limits,
      key: origin,
    };
  const scopes = key.projects.map((project) => [project, inProject(project)] as const);
  return {
    everywhere: null,
    projects: new Map(scopes.filter(([, held]) => held.size > 0)),
    keyLimits: key.limits,
    key: origin,
  };
}
