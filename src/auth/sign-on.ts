/** Who an identity provider says somebody is, and the user that this makes of them here. */
import type { RefusalReason } from "../../schemas/sign-on.ts";
import { Role, type UserStatus } from "../../schemas/user.ts";
import type { UserRecord } from "../core/account-ports.ts";
import { iso } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { newUserId } from "../core/ids.ts";
import type { Readers, Writers } from "../core/ports.ts";

/** What a provider has said, verified. */
export interface Identity {
  issuer: string;
  /** The issuer's own unchanging name of the person (`sub`). */
  subject: string;
  /** In lower case; null where the provider gives none. */
  email: string | null;
  emailVerified: boolean;
  groups: readonly string[];
}

/** Who gets which role. */
export interface SignOnPolicy {
  /** By the name of a group at the provider; of several the most powerful counts. */
  groups: Readonly<Record<string, Role>>;
  /** Of whom no group says; null: they are not let in. */
  defaultRole: Role | null;
  /** Who is an admin whatever the groups say: addresses in lower case. */
  adminEmails: ReadonlySet<string>;
}

/** The role that the provider's groups, or the list of admins, give; undefined where neither says. */
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

type Standing = Pick<UserRecord, "role" | "roleSource">;

/**
 * What somebody may do from now on: what the groups say; where they say nothing (any more), what an admin here decided,
 * else the role for everybody, as it is configured now; undefined where there is none.
 */
function standing(
  policy: SignOnPolicy,
  identity: Identity,
  before: Standing | undefined,
): Standing | undefined {
  const granted = grantedRole(policy, identity);
  if (granted !== undefined) return { role: granted, roleSource: "sign_on" };
  if (before !== undefined && before.roleSource === null) return { role: before.role, roleSource: null };
  // Whoever loses a group must not keep what it gave.
  return policy.defaultRole === null ? undefined : { role: policy.defaultRole, roleSource: "default" };
}

const ASK = "Ask an admin";

const refused = (reason: RefusalReason, message: string): AppError =>
  new AppError("sign_on_refused", message, { reason });

const noRole = (policy: SignOnPolicy): AppError =>
  refused(
    "no_role",
    `None of your groups at the identity provider gives you a role here. ${ASK} to put you into one of: ${Object.keys(policy.groups).join(", ") || "(none is configured)"}.`,
  );

/**
 * The user that an identity is, when nothing about them has to be written.
 * @throws AppError sign_on_refused when they are not let in (any more)
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
  const now = standing(policy, identity, user);
  if (now === undefined) {
    // Once what they had was taken away there is nothing to write.
    if (user.status !== "active") throw noRole(policy);
    return undefined;
  }
  return user.status === "active" && now.role === user.role && now.roleSource === user.roleSource
    ? user
    : undefined;
}

/**
 * The user that an identity is, inside a write transaction: made at the first sign-on, taken for the one with the same
 * verified address who has no identity of this issuer yet (invited, or from before), and brought up to date. Who was let
 * in and has no role any more loses what they had, keys and sessions too, until they come with a role.
 * @param now milliseconds
 * @returns the user, or why they are not let in: to be thrown when what was taken away is committed
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
  const standingNow = standing(policy, identity, before);
  if (standingNow === undefined) {
    if (known === undefined || before?.status !== "active") throw noRole(policy);
    await shutOut(tx, before);
    return noRole(policy);
  }
  const { role, roleSource } = standingNow;
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
  };
  await tx.users.insert(user);
  await tx.identities.insert({ ...keyOf(identity), userId: user.id, createdAt: at });
  await tx.recordAudit(user.email, `role_${role}`);
  return user;
}

/** Invited is who may come in and has not: nothing of theirs opens anything. */
async function shutOut(tx: Writers, { id, email, role }: UserRecord): Promise<void> {
  await tx.users.update(id, { status: "invited", role: "viewer" });
  await tx.sessions.endAllForUser(id);
  await tx.recordAudit(email, "status_invited");
  if (role !== "viewer") await tx.recordAudit(email, "role_viewer");
}

const keyOf = ({ issuer, subject }: Identity) => ({ issuer, subject });

/**
 * Who has the address already and may be this person.
 * @throws AppError sign_on_refused when the provider does not vouch for the address, or it is another's
 */
async function byAddress(tx: Writers, identity: Identity): Promise<UserRecord | undefined> {
  const { email, emailVerified, issuer } = identity;
  if (email === null || !emailVerified) {
    throw refused(
      email === null ? "no_email" : "email_not_verified",
      email === null
        ? `The identity provider tells no e-mail address of yours, and people are known by theirs here. ${ASK} to let it send the claims of the scope "email".`
        : `The identity provider says that your e-mail address is not verified. Verify it there, then sign in again.`,
    );
  }
  const user = await tx.users.findByEmail(email);
  // Whoever can take an address over at the provider must not take the account over with it.
  if (user !== undefined && (await tx.identities.has(user.id, issuer))) {
    throw refused(
      "address_taken",
      `Somebody else at the identity provider is ${email} here already. ${ASK} to look into it.`,
    );
  }
  return user;
}

function expectNotDeactivated({ email, status }: UserRecord): void {
  if (status !== "deactivated") return;
  throw refused("deactivated", `${email} is deactivated here. ${ASK} to let you in again.`);
}
