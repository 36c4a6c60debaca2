/** Maps the identity that a provider has verified to a user of this instance. */
import type { RefusalReason } from "../../schemas/sign-on.ts";
import { Role, type UserStatus } from "../../schemas/user.ts";
import type { UserRecord } from "../core/account-ports.ts";
import { iso } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { newUserId } from "../core/ids.ts";
import type { Readers, Writers } from "../core/ports.ts";

/** A person's verified claims. */
export interface Identity {
  issuer: string;
  /** The permanent id of the person at the issuer (`sub`). */
  subject: string;
  /** In lower case; null if the provider sends none. */
  email: string | null;
  emailVerified: boolean;
  groups: readonly string[];
}

/** Which people get which role. */
export interface SignOnPolicy {
  /** Roles by group at the provider; the most powerful one applies. */
  groups: Readonly<Record<string, Role>>;
  /** Role of people whose groups give none; null: they cannot sign in. */
  defaultRole: Role | null;
  /** E-mail addresses, in lower case, of people who are admins whatever their groups. */
  adminEmails: ReadonlySet<string>;
}

/** The role from the provider's groups or the list of admins; undefined if neither gives one. */
export function grantedRole(
  policy: SignOnPolicy,
  { email, emailVerified, groups }: Identity,
): Role | undefined {
  if (emailVerified && email !== null && policy.adminEmails.has(email)) return "admin";
  const roles = new Set(
    groups.flatMap((group) => (Object.hasOwn(policy.groups, group) ? [policy.groups[group]!] : [])),
  );
  return Role.options.findLast((role) => roles.has(role));
}

type AssignedRole = Pick<UserRecord, "role" | "roleSource">;

/**
 * The role of a person: from the groups, else as an admin decided here, else the configured default; undefined if there is
 * none.
 */
function roleFor(
  policy: SignOnPolicy,
  identity: Identity,
  before: AssignedRole | undefined,
): AssignedRole | undefined {
  const granted = grantedRole(policy, identity);
  if (granted !== undefined) return { role: granted, roleSource: "sign_on" };
  if (before !== undefined && before.roleSource === null) return { role: before.role, roleSource: null };
  // A person who loses a group must lose the role that it gave.
  return policy.defaultRole === null ? undefined : { role: policy.defaultRole, roleSource: "default" };
}

const ASK = "Ask an admin";

const refused = (reason: RefusalReason, message: string): AppError =>
  new AppError("sign_on_refused", message, { reason });

const noRole = (policy: SignOnPolicy): AppError =>
  refused(
    "no_role",
    `None of your groups at the identity provider gives you a role here. ${ASK} to add you to one of: ${Object.keys(policy.groups).join(", ") || "(none is configured)"}.`,
  );

/**
 * Returns the user of an identity, if nothing about them has to be written.
 * @throws AppError sign_on_refused if the person cannot sign in
 */
export async function findUpToDateUser(
  read: Pick<Readers, "users" | "identities">,
  policy: SignOnPolicy,
  identity: Identity,
): Promise<UserRecord | undefined> {
  const id = await read.identities.find(identity);
  const user = id === undefined ? undefined : await read.users.find(id);
  if (user === undefined) return undefined;
  expectNotDeactivated(user);
  const assigned = roleFor(policy, identity, user);
  if (assigned === undefined) {
    // There is nothing left to write if the person has already lost access.
    if (user.status !== "active") throw noRole(policy);
    return undefined;
  }
  return user.status === "active" && assigned.role === user.role && assigned.roleSource === user.roleSource
    ? user
    : undefined;
}

/**
 * Creates or updates the user of an identity, inside a write transaction. At the first sign-in, a user with the same verified
 * address who has no identity of this issuer yet is reused (invited, or from before). A user who no longer has a role loses
 * access, with keys and sessions, until they sign in with a role.
 * @param now time in milliseconds
 * @returns the user, or the error to throw after the loss of access is committed
 * @throws AppError sign_on_refused
 */
export async function provisionUser(
  tx: Writers,
  policy: SignOnPolicy,
  identity: Identity,
  now: number,
): Promise<UserRecord | AppError> {
  const known = await tx.identities.find(identity);
  const before = known === undefined ? await byAddress(tx, identity) : await tx.users.find(known);
  if (before !== undefined) expectNotDeactivated(before);
  const assigned = roleFor(policy, identity, before);
  if (assigned === undefined) {
    if (known === undefined || before?.status !== "active") throw noRole(policy);
    await revokeAccess(tx, before);
    return noRole(policy);
  }
  const { role, roleSource } = assigned;
  const at = iso(now);
  if (before !== undefined) {
    if (known === undefined)
      await tx.identities.insert({ ...keyOf(identity), userId: before.id, createdAt: at });
    const status: UserStatus = "active";
    const after = { role, roleSource, status, verifiedAt: before.verifiedAt ?? at };
    await tx.users.update(before.id, after);
    if (before.role !== role) await tx.recordAudit(before.email, `role_${role}`);
    return { ...before, ...after };
  }
  const user: UserRecord = {
    id: newUserId(),
    email: identity.email!,
    role,
    roleSource,
    status: "active",
    passwordHash: null,
    verifiedAt: at,
    createdAt: at,
    createdBy: identity.email!,
    lastLoginAt: null,
    hasSecondFactor: false,
  };
  await tx.users.insert(user);
  await tx.identities.insert({ ...keyOf(identity), userId: user.id, createdAt: at });
  await tx.recordAudit(user.email, `role_${role}`);
  return user;
}

/** Sets a user back to invited, in which state neither keys nor sessions are valid. */
async function revokeAccess(tx: Writers, { id, email, role }: UserRecord): Promise<void> {
  await tx.users.update(id, { status: "invited", role: "viewer" });
  await tx.sessions.endAllForUser(id);
  await tx.recordAudit(email, "status_invited");
  if (role !== "viewer") await tx.recordAudit(email, "role_viewer");
}

const keyOf = ({ issuer, subject }: Identity) => ({ issuer, subject });

/**
 * Finds an existing user with the same address who may be this person.
 * @throws AppError sign_on_refused if the provider has not verified the address, or if it belongs to another identity
 */
async function byAddress(tx: Writers, identity: Identity): Promise<UserRecord | undefined> {
  const { email, emailVerified, issuer } = identity;
  if (email === null || !emailVerified) {
    throw refused(
      email === null ? "no_email" : "email_not_verified",
      email === null
        ? `The identity provider sends no e-mail address for you, which Millrace needs to identify people. ${ASK} to configure the claims of the scope "email" there.`
        : `Your e-mail address is not verified at the identity provider. Verify it there, then sign in again.`,
    );
  }
  const user = await tx.users.findByEmail(email);
  // A person who takes over an address at the provider must not get its account here.
  if (user !== undefined && (await tx.identities.has(user.id, issuer))) {
    throw refused(
      "address_taken",
      `${email} already belongs to another account at the identity provider. ${ASK} to check this.`,
    );
  }
  return user;
}

function expectNotDeactivated({ email, status }: UserRecord): void {
  if (status !== "deactivated") return;
  throw refused("deactivated", `${email} is deactivated here. ${ASK} to activate you again.`);
}
