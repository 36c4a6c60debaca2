/**
 * The refusal of a caller that lacks a scope. Its message names a step that gives the caller the scope: which one helps depends
 * on the key, on its owner's roles, and on the project.
 */
import { OPERATOR, type Scope } from "../../schemas/actor.ts";
import type { Issue } from "../../schemas/problem.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import { Role, ROLE_SCOPES } from "../../schemas/user.ts";
import { SCOPES_WITHIN_WORKFLOWS, scopesIn, scopesOf } from "./access.ts";
import { AppError } from "./errors.ts";
import type { Principal } from "./principal.ts";

export interface NeededScope {
  scope: Scope;
  /** The project in which it is needed; null for any project of the caller. */
  project: string | null;
}

interface Refusal extends NeededScope {
  /** What needs the scope, as the subject of a sentence: the name of an operation or of a field. */
  subject: string;
  /** What the caller can do without the scope, as a sentence. */
  instead?: string;
  /** The path of the field that needs the scope. Default: the whole input. */
  path?: string;
}

/** The error of a caller that lacks a scope. */
export function missingScope(
  principal: Principal,
  { subject, instead, path = "", ...needed }: Refusal,
): AppError {
  const { scope } = needed;
  const steps =
    instead === undefined ? stepsFor(principal, needed) : `${instead} ${stepsFor(principal, needed)}`;
  return new AppError(
    "missing_scope",
    `${subject} needs the scope "${scope}"${placeOf(principal, needed)}, ${reasonOf(principal, needed)}. ${steps}`,
    { errors: issues(scope, path) },
  );
}

/** The error of a caller that can do nothing at all. */
export function nothingAllowed(principal: Principal, needed: NeededScope): AppError {
  const { kind, owner } = principal;
  const errors = issues(needed.scope, "");
  if (kind === "session") {
    const place = needed.project === null ? " in a project" : placeOf(principal, needed);
    return new AppError(
      "missing_scope",
      `${owner} has no role in any project, and so sees nothing. Ask an admin to give ${owner} the role ` +
        `${roleWith(needed.scope)}${place}.`,
      { errors },
    );
  }
  const reason =
    owner === OPERATOR
      ? "its projects were deleted"
      : `its owner ${owner} has no role in its projects any more, or these were deleted`;
  return new AppError(
    "missing_scope",
    `This key can do nothing now: ${reason}. ${stepsFor(principal, needed)}`,
    { errors },
  );
}

const issues = (scope: Scope, path: string): Issue[] => [
  { path, code: "missing_scope", message: `needs the scope ${scope}`, allowed: [scope] },
];

/**
 * Whom to ask for a key with a scope, and the command that creates one.
 * @param options further options of the command
 */
export function keyAdvice(principal: Principal, needed: NeededScope, options = ""): string {
  const { owner } = principal;
  const giver =
    owner !== OPERATOR && ownerHas(principal, needed) ? `${owner} or the operator` : "the operator";
  const isDefault = projectsOf(principal, needed).every((project) => project === DEFAULT_PROJECT);
  const place = isDefault ? "" : ` --project ${needed.project ?? "<project>"}`;
  return `ask ${giver} for one: millrace keys create --name <name>${options} --scope ${needed.scope}${place}`;
}

/** The projects that the refusal is about; none where the caller has the same scopes in every project. */
function projectsOf({ access }: Principal, { project }: NeededScope): readonly string[] {
  if (access.everywhere !== null) return [];
  return project === null ? (access.key?.projects ?? [...access.projects.keys()]) : [project];
}

/**
 * Where the scope is needed. The projects of a caller are not named: a key can belong to one in which its owner has no role
 * any more.
 */
function placeOf(principal: Principal, needed: NeededScope): string {
  const { length } = projectsOf(principal, needed);
  if (length === 0) return "";
  if (needed.project !== null) return ` in the project "${needed.project}"`;
  return length === 1 ? " in its project" : " in one of its projects";
}

/** The role with the fewest scopes that grants a scope. */
const roleWith = (scope: Scope): Role => Role.options.find((role) => ROLE_SCOPES[role].includes(scope))!;

/** Whether the owner of a key, or the person, has the scope where it is needed. */
function ownerHas(principal: Principal, needed: NeededScope): boolean {
  const owner = principal.access.key?.owner;
  if (owner === undefined) return principal.owner === OPERATOR;
  const projects = projectsOf(principal, needed);
  return projects.length === 0
    ? scopesOf(owner).has(needed.scope)
    : projects.some((project) => scopesIn(owner, project).has(needed.scope));
}

/** Whether a key has the scope and belongs to the project, so that only its owner's role is in the way. */
function keyHas(principal: Principal, needed: NeededScope): boolean {
  const { key, keyLimits } = principal.access;
  const projects = projectsOf(principal, needed);
  return (
    key !== undefined &&
    key.scopes.includes(needed.scope) &&
    !(keyLimits?.workflows !== undefined && !SCOPES_WITHIN_WORKFLOWS.includes(needed.scope)) &&
    (projects.length === 0 || projects.some((project) => key.projects.includes(project)))
  );
}

function reasonOf(principal: Principal, needed: NeededScope): string {
  const { kind, owner, access, scopes } = principal;
  if (kind !== "key") return `which the role of ${owner} does not grant`;
  if (keyHas(principal, needed))
    return `which this key has, but the role of its owner ${owner} does not grant`;
  if (access.keyLimits?.workflows !== undefined && !SCOPES_WITHIN_WORKFLOWS.includes(needed.scope))
    return "which a key that is limited to workflows can't have";
  const held = needed.project === null ? scopes : scopesIn(access, needed.project);
  return `which this key does not have${held.size === 0 ? "" : ` (it has ${[...held].join(", ")})`}`;
}

function stepsFor(principal: Principal, needed: NeededScope): string {
  const { kind, owner } = principal;
  const place = placeOf(principal, needed);
  const giveRole = `Ask an admin to give ${owner} the role ${roleWith(needed.scope)}${place}`;
  if (kind !== "key") return `${giveRole}.`;
  if (principal.application === true && !keyHas(principal, needed) && ownerHas(principal, needed))
    return "Connect this application again, and allow it that scope.";
  const advice = keyAdvice(principal, needed);
  if (keyHas(principal, needed)) return `${giveRole}. Or use a key of somebody else: ${advice}`;
  if (ownerHas(principal, needed)) return `Use another key, or ${advice}`;
  return `Other keys of ${owner} lack it too, because of the owner's role. Use a key of somebody else, or ${advice}`;
}
