import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Role } from "../../schemas/user.ts";
import {
  grantedRole,
  type Identity,
  findUpToDateUser,
  type SignOnPolicy,
  provisionUser,
} from "../../src/auth/sign-on.ts";
import type { UserRecord } from "../../src/core/account-ports.ts";
import { AppError } from "../../src/core/errors.ts";
import { newRequestId } from "../../src/core/ids.ts";
import { userWriter } from "../../src/store/users.ts";
import { type TestInstance, testInstance } from "../support/instance.ts";
import { addUser, keyPrincipal } from "../support/users.ts";

const POLICY: SignOnPolicy = {
  groups: { admins: "admin", editors: "editor", viewers: "viewer" },
  defaultRole: "viewer",
  adminEmails: new Set(["root@example.com"]),
};
const STRICT: SignOnPolicy = { ...POLICY, defaultRole: null };

const ann = (fields: Partial<Identity> = {}): Identity => ({
  issuer: "https://id.example.com",
  subject: "ann",
  email: "ann@example.com",
  emailVerified: true,
  groups: ["editors"],
  ...fields,
});

/** The user of an identity, or the error after it was committed, in its own transaction. */
const write = (instance: TestInstance, identity: Identity, policy: SignOnPolicy) =>
  instance.write(
    {
      operation: "sign_in",
      actor: { principal: keyPrincipal(), client: { surface: "web", name: "test" } },
      requestId: newRequestId(),
    },
    (tx) => provisionUser(tx, policy, identity, instance.clock.now()),
  );

/** The error of an identity that has no role, once it is committed that the person has lost their access. */
const loseRole = (instance: TestInstance, identity: Identity) => write(instance, identity, STRICT);

/** The operations of the audit log, the oldest first. */
const operations = async (instance: TestInstance): Promise<string[]> =>
  (await instance.read.audit.page({ filter: {}, before: null, limit: 50 }))
    .map(({ operation }) => operation)
    .toReversed();

/** Provisions the user of an identity. */
async function provision(instance: TestInstance, identity: Identity, policy = POLICY): Promise<UserRecord> {
  const user = await write(instance, identity, policy);
  if (user instanceof AppError) throw user;
  return user;
}

const refusal = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "accepted",
    (error: { code: string; details: { reason?: string } }) => `${error.code}: ${error.details.reason}`,
  );

const update = (
  instance: TestInstance,
  id: string,
  change: Parameters<ReturnType<typeof userWriter>["update"]>[1],
) => instance.store.transaction((trx) => userWriter(trx).update(id, change));

const power = (role: Role | undefined): number => (role === undefined ? -1 : Role.options.indexOf(role));

describe("the role of a user's groups", () => {
  const name = fc.oneof(fc.constantFrom("a", "b", "c", "__proto__", "constructor", "toString"), fc.string());

  it("is the role of the most powerful group, and never more", () => {
    const groupRoles = fc.dictionary(name, fc.constantFrom(...Role.options));
    fc.assert(
      fc.property(groupRoles, fc.array(name), fc.boolean(), (groups, own, emailVerified) => {
        const policy = { ...POLICY, groups };
        const powers = own
          .filter((group) => Object.hasOwn(groups, group))
          .map((group) => power(groups[group]));
        const identity = ann({ groups: own, emailVerified });
        expect(power(grantedRole(policy, identity))).toBe(Math.max(-1, ...powers));
      }),
    );
  });

  it("is admin for a configured address, if the provider has verified it", () => {
    expect(grantedRole(POLICY, ann({ email: "root@example.com", groups: [] }))).toBe("admin");
    expect(
      grantedRole(POLICY, ann({ email: "root@example.com", emailVerified: false, groups: [] })),
    ).toBeUndefined();
  });
});

describe("provisioning a user", () => {
  it("creates a user at the first sign-on, and finds them by the subject afterwards", async () => {
    const instance = await testInstance();
    const first = await provision(instance, ann());
    expect(first).toMatchObject({
      email: "ann@example.com",
      role: "editor",
      roleSource: "sign_on",
      status: "active",
    });
    const second = await provision(instance, ann({ email: "other@example.com", emailVerified: false }));
    expect(second).toMatchObject({ id: first.id, email: "ann@example.com" });
    expect(await findUpToDateUser(instance.read, POLICY, ann())).toMatchObject({ id: first.id });
    expect(await findUpToDateUser(instance.read, POLICY, ann({ groups: ["admins"] }))).toBeUndefined();
  });

  it("links an invited or existing user with the same verified address", async () => {
    const instance = await testInstance();
    const invited = await addUser(instance, { email: "ann@example.com", status: "invited", role: "viewer" });
    const user = await provision(instance, ann({ groups: [] }));
    expect(user).toMatchObject({ id: invited.id, status: "active", role: "viewer", roleSource: null });
    // Found by the subject from now on, also with another address.
    expect(await instance.read.identities.find(ann())).toBe(invited.id);
    expect(
      await provision(instance, ann({ issuer: "https://second.example.com", subject: "a" })),
    ).toMatchObject({
      id: invited.id,
    });
  });

  it("is not up to date where the same role comes from another source", async () => {
    const instance = await testInstance();
    await provision(instance, ann({ groups: [] }));
    expect(await findUpToDateUser(instance.read, POLICY, ann({ groups: [] }))).toBeDefined();
    expect(await findUpToDateUser(instance.read, POLICY, ann({ groups: ["viewers"] }))).toBeUndefined();
  });

  it("refuses an identity without a verified address", async () => {
    const instance = await testInstance();
    expect(await refusal(provision(instance, ann({ emailVerified: false })))).toBe(
      "sign_on_refused: email_not_verified",
    );
    expect(await refusal(provision(instance, ann({ email: null })))).toBe("sign_on_refused: no_email");
    expect(await instance.read.users.exists()).toBe(false);
  });

  it("never gives an identity the account of another identity with the same address", async () => {
    const instance = await testInstance();
    await provision(instance, ann());
    expect(await refusal(provision(instance, ann({ subject: "eve", groups: ["admins"] })))).toBe(
      "sign_on_refused: address_taken",
    );
    expect(await instance.read.users.findByEmail("ann@example.com")).toMatchObject({ role: "editor" });
  });

  it("refuses a deactivated user, whatever the groups are", async () => {
    const instance = await testInstance();
    const { id } = await provision(instance, ann());
    await update(instance, id, { status: "deactivated" });
    const again = ann({ groups: ["admins"] });
    expect(await refusal(provision(instance, again))).toBe("sign_on_refused: deactivated");
    expect(await refusal(findUpToDateUser(instance.read, POLICY, again))).toBe(
      "sign_on_refused: deactivated",
    );
    // A new identity with the same address is refused, too.
    const eve = ann({ issuer: "https://second.example.com", subject: "eve" });
    expect(await refusal(provision(instance, eve))).toBe("sign_on_refused: deactivated");
    expect(await instance.read.users.find(id)).toMatchObject({ status: "deactivated", role: "editor" });
  });

  it("takes away a role when its group is gone, and keeps a role that an admin set", async () => {
    const instance = await testInstance();
    const { id } = await provision(instance, ann({ groups: ["admins"] }));
    expect(await provision(instance, ann({ groups: ["staff"] }))).toMatchObject({
      role: "viewer",
      roleSource: "default",
    });
    await update(instance, id, { role: "editor", roleSource: null });
    expect(await provision(instance, ann({ groups: [] }))).toMatchObject({
      role: "editor",
      roleSource: null,
    });
    await provision(instance, ann({ groups: ["viewers"] }));
    expect(await refusal(provision(instance, ann({ groups: [] }), STRICT))).toBe("sign_on_refused: no_role");
  });

  it.each([
    { group: "editors", entries: ["status_invited", "role_viewer"] },
    { group: "viewers", entries: ["status_invited"] },
  ])("takes away the access of a person of $group who has no role any more", async ({ group, entries }) => {
    const instance = await testInstance();
    const { id, email } = await provision(instance, ann({ groups: [group] }), STRICT);
    const lost = ann({ groups: [] });
    // The loss must be written, so the user is not up to date.
    expect(await findUpToDateUser(instance.read, STRICT, lost)).toBeUndefined();
    const before = await operations(instance);
    expect(await loseRole(instance, lost)).toMatchObject({
      code: "sign_on_refused",
      message: expect.stringContaining("to add you to one of: admins, editors, viewers."),
      details: { reason: "no_role" },
    });
    expect(await instance.read.users.find(id)).toMatchObject({ email, status: "invited", role: "viewer" });
    expect((await operations(instance)).slice(before.length)).toEqual(entries.map((one) => `sign_in.${one}`));
    // Nothing is left to write.
    expect(await refusal(findUpToDateUser(instance.read, STRICT, lost))).toBe("sign_on_refused: no_role");
    expect(await refusal(provision(instance, lost, STRICT))).toBe("sign_on_refused: no_role");
    expect(await operations(instance)).toHaveLength(before.length + entries.length);
    // With a role again, the access must be written first.
    const found = ann({ groups: ["viewers"] });
    expect(await findUpToDateUser(instance.read, STRICT, found)).toBeUndefined();
    expect(await provision(instance, found, STRICT)).toMatchObject({ id, status: "active", role: "viewer" });
  });

  it("refuses a person without a role at an instance with no groups, and says so", async () => {
    const instance = await testInstance();
    await expect(provision(instance, ann(), { ...STRICT, groups: {} })).rejects.toMatchObject({
      message: expect.stringContaining("to add you to one of: (none is configured)."),
    });
  });

  it("refuses a new user without a role if there is no default role", async () => {
    const instance = await testInstance();
    expect(await refusal(provision(instance, ann({ groups: ["staff"] }), STRICT))).toBe(
      "sign_on_refused: no_role",
    );
    expect(await instance.read.users.exists()).toBe(false);
    expect(await provision(instance, ann(), STRICT)).toMatchObject({ role: "editor" });
  });

  it("records changes of roles in the audit log", async () => {
    const instance = await testInstance();
    await provision(instance, ann());
    await provision(instance, ann());
    await provision(instance, ann({ groups: ["admins"] }));
    expect(await operations(instance)).toEqual(["sign_in.role_editor", "sign_in.role_admin"]);
  });
});
