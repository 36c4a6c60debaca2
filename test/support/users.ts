/** Signed-in users, without going through the sign-in. */
import { randomBytes } from "node:crypto";
import type { z } from "zod";
import { accessEverywhere } from "../../src/core/access.ts";
import { Scope } from "../../schemas/actor.ts";
import type { UserRole, UserStatus } from "../../schemas/user.ts";
import { openSessions, principalOf, sessionCookie } from "../../src/auth/sessions.ts";
import { DAY, iso } from "../../src/core/clock.ts";
import type { SessionRecord, UserRecord } from "../../src/core/account-ports.ts";
import { newRequestId, newUserId } from "../../src/core/ids.ts";
import type { Actor, Principal } from "../../src/core/ports.ts";
import type { Tool } from "../../src/core/tool.ts";
import { sessionStore, sessionWriter } from "../../src/store/sessions.ts";
import { userWriter } from "../../src/store/users.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import type { TestInstance } from "./instance.ts";

export interface SignedIn {
  user: UserRecord;
  session: SessionRecord;
  principal: Principal;
  /** The `Cookie` of its requests, over plain http. */
  cookie: string;
}

const LIMITS = { idleMs: 7 * DAY, maxAgeMs: 30 * DAY };

/** Inserts a user into the store. */
export async function addUser(
  { store, clock }: TestInstance,
  {
    email = "ann@example.com",
    role = "editor",
    status = "active",
    passwordHash = status === "invited" ? null : randomBytes(8).toString("hex"),
  }: { email?: string; role?: UserRole; status?: UserStatus; passwordHash?: string | null } = {},
): Promise<UserRecord> {
  const user: UserRecord = {
    id: newUserId(),
    email,
    role,
    status,
    passwordHash,
    roleSource: null,
    verifiedAt: null,
    createdAt: iso(clock.now()),
    createdBy: "operator",
    lastLoginAt: null,
  };
  await store.transaction((trx) => userWriter(trx).insert(user));
  return user;
}

/** Creates another session of a user. */
export async function signIn(
  { store, read, clock }: TestInstance,
  user: UserRecord,
  { client = "Firefox 145 on Linux", address = "127.0.0.1" } = {},
): Promise<SignedIn> {
  const sessions = openSessions(sessionStore(store), read.projects, clock, LIMITS);
  const { token, record } = sessions.create(client, address);
  const whole = { ...record, userId: user.id };
  await store.transaction((trx) => sessionWriter(trx, clock).insert(whole));
  const { digest: _, ...session } = whole;
  return {
    user,
    session,
    principal: principalOf({ session, user }, await sessions.accessOf(user)),
    cookie: sessionCookie(token, { secure: false, pathPrefix: "" }, LIMITS).split(";")[0]!,
  };
}

/** A signed-in user. */
export const signedInUser = async (
  instance: TestInstance,
  options: Parameters<typeof addUser>[1] = {},
): Promise<SignedIn> => signIn(instance, await addUser(instance, options));

/** Calls operations directly as one caller. */
export const callAs =
  (
    { services }: Pick<TestInstance, "services">,
    principal: Principal,
    client: Actor["client"] = { surface: "web", name: "vitest" },
  ) =>
  async <I extends z.ZodObject, O extends z.ZodType>(
    tool: Tool<I, O>,
    input: Record<string, unknown> = {},
  ): Promise<z.output<O>> =>
    (await invoke(services, tool, input, {
      actor: { principal, client },
      requestId: newRequestId(),
      signal: new AbortController().signal,
    })) as z.output<O>;

/** The principal of a key with all scopes. */
export const keyPrincipal = (scopes: readonly Scope[] = Scope.options, owner = "operator"): Principal => ({
  kind: "key",
  keyId: "key_test",
  keyName: "test",
  owner,
  scopes: new Set(scopes),
  access: accessEverywhere(["read", ...scopes]),
  lineage: "key_test",
});
