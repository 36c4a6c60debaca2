/**
 * What a refused caller is advised to do, for every combination of the scopes of a key, its projects and limits, and the roles
 * of its owner: each step that the message names is taken, and has to help.
 */
import { describe, expect, it } from "vitest";
import { Scope } from "../../schemas/actor.ts";
import type { Role, UserRole } from "../../schemas/user.ts";
import {
  type Access,
  accessOfKey,
  accessOfPerson,
  type KeyLimits,
  type Roles,
  scopesIn,
  scopesOf,
} from "../../src/core/access.ts";
import { AppError } from "../../src/core/errors.ts";
import type { Principal } from "../../src/core/principal.ts";
import { missingScope } from "../../src/core/scope-refusal.ts";
import { authorise } from "../../src/surfaces/invoke.ts";
import { grantableScopes } from "../../tools/api-keys/key-area.ts";

const ANN = "ann@example.com";
const PROJECTS = ["default", "finance"];

interface KeyRow {
  scopes: readonly Scope[];
  projects: readonly string[];
  limits: KeyLimits | null;
}

const READ: Scope[] = ["read"];

/** A caller: a key with its owner (null for the operator), or a person. */
interface Caller {
  key: KeyRow | null;
  owner: Roles | null;
  isSingleProject: boolean;
}

/** Checks that a caller is not refused. */
type Attempt = (principal: Principal) => void;

const subsets = <T>([first, ...rest]: readonly T[]): T[][] =>
  first === undefined ? [[]] : subsets(rest).flatMap((subset) => [subset, [first, ...subset]]);

const memberships = (role: Role | null): ReadonlyMap<string, Role> =>
  new Map(role === null ? [] : [["finance", role]]);

const rolesOf = (isSingleProject: boolean): Roles[] => {
  const roles: UserRole[] = isSingleProject
    ? ["viewer", "editor", "admin"]
    : ["member", "viewer", "editor", "admin"];
  const inFinance: (Role | null)[] = isSingleProject ? [null] : [null, "viewer", "editor", "admin"];
  return roles.flatMap((role) =>
    inFinance.map((other): Roles => ({ role, memberships: memberships(other), isSingleProject })),
  );
};

const callers: Caller[] = [true, false].flatMap((isSingleProject) => {
  const owners = [null, ...rolesOf(isSingleProject)];
  const keys = subsets(Scope.options.slice(1)).flatMap((others) =>
    (isSingleProject ? [["default"]] : [["default"], ["finance"], PROJECTS]).flatMap((projects) =>
      [null, { workflows: ["alpha"] }, { tools: ["get_run"] }].map((limits): KeyRow => ({
        scopes: READ.concat(others),
        projects,
        limits,
      })),
    ),
  );
  const ofKeys = owners.flatMap((owner) => keys.map((key): Caller => ({ key, owner, isSingleProject })));
  return ofKeys.concat(rolesOf(isSingleProject).map((owner) => ({ key: null, owner, isSingleProject })));
});

const accessOf = ({ key, owner, isSingleProject }: Caller): Access =>
  key === null ? accessOfPerson(owner!) : accessOfKey(key, owner, isSingleProject);

function principalOf(caller: Caller): Principal {
  const access = accessOf(caller);
  return {
    kind: caller.key === null ? "session" : "key",
    keyId: "key_1",
    keyName: "ci",
    owner: caller.owner === null ? "operator" : ANN,
    lineage: "key_1",
    scopes: scopesOf(access),
    access,
  };
}

const refusalOf = (attempt: Attempt, caller: Caller): AppError | undefined => {
  try {
    attempt(principalOf(caller));
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
};

/** The operation of a scope that anybody can try, and one of the instance. */
const operations = Scope.options.flatMap((scope) =>
  [false, true].map((instance): [string, Attempt] => {
    const tool = { name: `any_${scope}`, scope, ...(instance && { instance: true as const }) };
    return [
      `${scope}${instance ? " of the instance" : ""}`,
      (principal) => authorise(tool, { actor: { principal, client: { surface: "rest", name: "vitest" } } }),
    ];
  }),
);

/** Something in a project, for callers who see it. */
const inProjects = PROJECTS.flatMap((project) =>
  Scope.options.map((scope): [string, Attempt] => [
    `${scope} in ${project}`,
    (principal) => {
      const scopes = scopesIn(principal.access, project);
      if (scopes.has("read") && !scopes.has(scope))
        throw missingScope(principal, { subject: "This", scope, project });
    },
  ]),
);

const ROLE =
  /Ask an admin to give (\S+) the role (\w+)(?: in (a project|its project|one of its projects|the project "([^"]+)"))?\./;
const COMMAND = /ask (?:(\S+) or )?the operator for one: millrace keys create --name <name>(.*)$/;

interface Step {
  step: string;
  caller: Caller;
}

const withRole = (owner: Roles, project: string, role: Role): Roles =>
  project === "default" ? { ...owner, role } : { ...owner, memberships: new Map([[project, role]]) };

/** The role that a message advises, in each project that it can mean. */
function roleSteps(message: string, caller: Caller): Step[] {
  const [step, owner, role, place, named] = ROLE.exec(message) ?? [];
  if (step === undefined) return [];
  if (owner !== ANN) throw new Error(`not the owner: ${message}`);
  const own = caller.key?.projects ?? ["finance"];
  const projects = named !== undefined ? [named] : place === undefined ? ["default"] : own;
  return projects.map((project) => ({
    step: `${step} (${project})`,
    caller: { ...caller, owner: withRole(caller.owner!, project, role as Role) },
  }));
}

/** The keys that a message advises to create: of the operator, or of the owner, who can give a key only what the owner has. */
function keySteps(message: string, caller: Caller): Step[] {
  const [step, giver, text = ""] = COMMAND.exec(message) ?? [];
  if (step === undefined) return [];
  const options = new Map(
    [...text.matchAll(/--(scope|tool|project) (\S+)/g)].map((match) => [match[1]!, match[2]!]),
  );
  const tool = options.get("tool");
  const project = options.get("project") ?? "default";
  return (project === "<project>" ? caller.key!.projects : [project]).flatMap((of) => {
    const key: KeyRow = {
      scopes: ["read", options.get("scope") as Scope],
      projects: [of],
      limits: tool === undefined ? null : { tools: [tool] },
    };
    const created: Step = { step: `${step} (${of})`, caller: { ...caller, key, owner: null } };
    if (giver === undefined) return [created];
    if (giver !== ANN) throw new Error(`not the owner: ${message}`);
    const allowed = grantableScopes(accessOfPerson(caller.owner!), [of]);
    // With several projects it is enough that the owner can give one of them to the key.
    const canGive = key.scopes.every((scope) => allowed.has(scope));
    if (!canGive && project === "<project>") return [created];
    if (!canGive) throw new Error(`${ANN} can't create this key: ${message}`);
    return [created, { step: `${ANN}: ${step} (${of})`, caller: { ...caller, key } }];
  });
}

describe.each([...operations, ...inProjects])("A caller that is refused %s", (name, attempt) => {
  it("is advised to do what helps, and only that", () => {
    let refused = 0;
    const wrong: object[] = [];
    for (const caller of callers) {
      const error = refusalOf(attempt, caller);
      if (error === undefined) continue;
      refused += 1;
      const { message } = error;
      const steps = [...roleSteps(message, caller), ...keySteps(message, caller)];
      if (steps.length === 0) wrong.push({ message, step: "none" });
      if (caller.isSingleProject && /project/.test(message))
        wrong.push({ message, step: "mentions projects" });
      for (const { step, caller: after } of steps) {
        const again = refusalOf(attempt, after);
        if (again !== undefined) wrong.push({ message, step, again: again.message });
      }
    }
    expect(wrong.slice(0, 3)).toEqual([]);
    // Everybody can read what they see.
    expect(refused > 0).toBe(!name.startsWith("read in"));
  });
});
