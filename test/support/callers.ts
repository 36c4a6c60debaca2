/** Callers and accesses made of plain values, for tests of the rules of authorization. They need no store. */
import type { Scope } from "../../schemas/actor.ts";
import type { Role, UserRole } from "../../schemas/user.ts";
import {
  type Access,
  accessOfKey,
  accessOfPerson,
  type KeyLimits,
  type Roles,
  scopesOf,
} from "../../src/core/access.ts";
import type { Principal } from "../../src/core/ports.ts";

export const ANN = "ann@example.com";

/** The roles of a person of an installation with several projects. */
export const rolesIn = (role: UserRole, memberships: Readonly<Record<string, Role>> = {}): Roles => ({
  role,
  memberships: new Map(Object.entries(memberships)),
  isSingleProject: false,
});

/** The roles of a person of an installation that has only the default project. */
export const onlyRole = (role: UserRole): Roles => ({ ...rolesIn(role), isSingleProject: true });

/** A caller with this access: a signed-in person, unless the access is that of a key. */
export const principalWith = (access: Access, fields: Partial<Principal> = {}): Principal => ({
  kind: access.key === undefined ? "session" : "key",
  keyId: "key_1",
  keyName: "ci",
  owner: ANN,
  scopes: scopesOf(access),
  access,
  lineage: "key_1",
  ...fields,
});

export const personWith = (roles: Roles): Principal => principalWith(accessOfPerson(roles));

/** @param owner null for the operator */
export const keyWith = (
  owner: Roles | null,
  scopes: readonly Scope[],
  { projects = ["default"], limits = null }: { projects?: readonly string[]; limits?: KeyLimits | null } = {},
): Principal =>
  principalWith(
    accessOfKey({ scopes, projects, limits }, owner, owner?.isSingleProject ?? false),
    owner === null ? { owner: "operator" } : {},
  );

/** The error that a function throws; fails the test where it throws none. */
export function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("It was expected to throw an error, and did not");
}
