import { describe, expect, it } from "vitest";
import type { Scope } from "../../schemas/actor.ts";
import type { UserStatus } from "../../schemas/user.ts";
import { accessOfPerson, FULL_ACCESS, type KeyLimits, type Roles, scopesIn } from "../../src/core/access.ts";
import type { ApiKeyWithOwner } from "../../src/core/account-ports.ts";
import { DAY, iso } from "../../src/core/clock.ts";
import type { Principal } from "../../src/core/ports.ts";
import type { SubscriptionRecord } from "../../src/core/subscription-ports.ts";
import { confirmationBy, valuesGrant } from "../../src/core/values-grant.ts";
import { ANN, rolesIn } from "../support/callers.ts";

const NOW = Date.parse("2026-11-21T08:00:00.000Z");

interface Setting {
  status?: UserStatus;
  roles?: Roles;
  keys?: Partial<ApiKeyWithOwner>[];
}

/** A key of Ann; an owner of null is the operator. */
const key = (fields: Partial<ApiKeyWithOwner> = {}): Partial<ApiKeyWithOwner> => ({
  id: "key_1",
  owner: ANN,
  user: { role: "editor", status: "active" },
  isSingleProject: false,
  scopes: ["read"] as Scope[],
  projects: ["default"],
  limits: null,
  revokedAt: null,
  expiresAt: null,
  application: null,
  ...fields,
});
const ofOperator = { owner: "operator", user: null };
const limited = (limits: KeyLimits) => key({ limits });

/** The owners whose memberships were read. */
const asked: string[] = [];

const grant = (
  confirmed: Partial<SubscriptionRecord>,
  { status = "active", roles = rolesIn("editor", { finance: "viewer" }), keys = [] }: Setting = {},
  of?: { workflowId?: string | null },
) => {
  const read = {
    users: {
      findByEmail: async (email: string) => (email === ANN ? { role: roles.role, status } : undefined),
    },
    projects: {
      membershipsOf: async (owner: string) => (asked.push(owner), roles.memberships),
      isSingle: async () => roles.isSingleProject,
    },
    apiKeys: { ofLineage: async (lineage: string) => (lineage === "key_1" ? keys : []) },
  };
  return valuesGrant(
    read as unknown as Parameters<typeof valuesGrant>[0],
    { project: "default", confirmedBy: ANN, confirmedLineage: null, ...confirmed } as SubscriptionRecord,
    NOW,
    of,
  );
};
const withheld = (why: string) => ({
  withheld: `Values are left out, because ${why}. An admin of the project who may read its runs confirms the subscription: set url, url_secret or include_values again, after a look at where it delivers to.`,
});

const confirmationOf = (kind: Principal["kind"]) =>
  confirmationBy({ kind, owner: ANN, lineage: "key_1" } as Principal, iso(NOW));

describe("confirmationBy", () => {
  it("has the lineage of a key, and none of a person", () => {
    expect(confirmationOf("key")).toEqual({
      confirmedBy: ANN,
      confirmedLineage: "key_1",
      confirmedAt: iso(NOW),
    });
    expect(confirmationOf("session")).toEqual({
      confirmedBy: ANN,
      confirmedLineage: null,
      confirmedAt: iso(NOW),
    });
    expect(confirmationOf("operator").confirmedLineage).toBeNull();
  });
});

describe("valuesGrant of a person", () => {
  it("is the access of who set the URL", async () => {
    const roles = rolesIn("editor", { finance: "viewer" });
    expect(await grant({})).toEqual({ access: accessOfPerson(roles) });
    expect(await grant({ project: "finance" })).toEqual({ access: accessOfPerson(roles) });
    expect(await grant({ confirmedBy: "operator" })).toEqual({ access: FULL_ACCESS });
  });

  it.each<[string, Partial<SubscriptionRecord>, Setting, string]>([
    ["nobody set the URL", { confirmedBy: null }, {}, "nobody of this instance has set its URL"],
    [
      "the person is deactivated",
      {},
      { status: "deactivated" },
      `${ANN}, who set its URL, is not an active user any more`,
    ],
    [
      "the person has no account any more",
      { confirmedBy: "ben@example.com" },
      {},
      "ben@example.com, who set its URL, is not an active user any more",
    ],
    [
      "the person has no role in the project any more",
      { project: "hr" },
      {},
      `${ANN}, who set its URL, can't read runs of this project any more`,
    ],
  ])("withholds values where %s", async (_what, confirmed, setting, why) => {
    expect(await grant(confirmed, setting)).toEqual(withheld(why));
    // Also where a key of theirs is active.
    expect(await grant({ confirmedLineage: "key_1", ...confirmed }, { keys: [key()], ...setting })).toEqual(
      withheld(why),
    );
  });
});

describe("valuesGrant of a key", () => {
  const GONE = `the API key of ${ANN} that set its URL is revoked or has expired`;
  const MAY_NOT = `the API key of ${ANN} that set its URL may not read these runs`;

  it.each<[string, Partial<ApiKeyWithOwner>[], string]>([
    ["no key is left", [], GONE],
    ["the key is revoked", [key({ revokedAt: iso(NOW - 1) })], GONE],
    ["the key has expired", [key({ expiresAt: iso(NOW) })], GONE],
    [
      "the application can't renew its token any more",
      [
        key({
          expiresAt: iso(NOW - DAY),
          application: { renewableUntil: iso(NOW) } as ApiKeyWithOwner["application"],
        }),
      ],
      GONE,
    ],
    ["the key belongs to another project", [key({ projects: ["finance"] })], MAY_NOT],
    ["the key may not use get_run", [limited({ tools: ["list_runs"] })], MAY_NOT],
    ["the key lacks the scope read", [key({ scopes: ["run"] })], MAY_NOT],
    [
      "the key that may is revoked, and the one that is active may not",
      [key({ revokedAt: iso(NOW) }), limited({ tools: [] })],
      MAY_NOT,
    ],
  ])("withholds values where %s", async (_what, keys, why) => {
    expect(await grant({ confirmedLineage: "key_1" }, { keys })).toEqual(withheld(why));
  });

  it.each<[string, Partial<ApiKeyWithOwner>[]]>([
    ["an active key", [key()]],
    ["a key that may use get_run", [limited({ tools: ["get_run"] })]],
    ["the successor of a revoked key", [key({ revokedAt: iso(NOW) }), key()]],
    ["the second active key, where the first may not", [limited({ tools: [] }), key()]],
    [
      "an application that can renew its token",
      [
        key({
          expiresAt: iso(NOW - DAY),
          application: { renewableUntil: iso(NOW + 1) } as ApiKeyWithOwner["application"],
        }),
      ],
    ],
  ])("allows values for %s", async (_what, keys) => {
    const found = await grant({ confirmedLineage: "key_1" }, { keys });
    expect(found).toMatchObject({ access: { projects: new Map([["default", new Set(["read"])]]) } });
  });

  it("is as far as the owner's roles in the projects allow", async () => {
    const keys = [key({ projects: ["default", "finance"], scopes: ["read", "run"] })];
    const found = await grant({ confirmedLineage: "key_1", project: "finance" }, { keys });
    expect(found).toMatchObject({
      access: {
        projects: new Map([
          ["default", new Set(["read", "run"])],
          ["finance", new Set(["read"])],
        ]),
      },
    });
  });

  it("is everywhere in an installation with one project, and the memberships count for nothing there", async () => {
    const roles = { ...rolesIn("viewer", { default: "admin" }), isSingleProject: true };
    const keys = [
      key({ isSingleProject: true, user: { role: "viewer", status: "active" }, scopes: ["read", "run"] }),
    ];
    const found = await grant({ confirmedLineage: "key_1" }, { roles, keys });
    expect(found).toMatchObject({ access: { everywhere: new Set(["read"]) } });
  });

  it("of the operator needs no user", async () => {
    const keys = [key({ ...ofOperator, scopes: ["read", "admin"] })];
    asked.length = 0;
    const found = await grant({ confirmedBy: "operator", confirmedLineage: "key_1" }, { keys });
    expect(asked).toEqual([]);
    if ("withheld" in found) throw new Error(found.withheld);
    expect([...scopesIn(found.access, "default")]).toEqual(["read", "admin"]);
  });

  it.each<[string | null | undefined, boolean]>([
    ["w", true],
    ["other", false],
    [null, false],
    [undefined, true],
  ])(
    "of a key that is limited to the workflow w, for a run of %s, allows: %s",
    async (workflowId, allows) => {
      const keys = [limited({ workflows: ["w"] })];
      const of = workflowId === undefined ? undefined : { workflowId };
      const found = await grant({ confirmedLineage: "key_1" }, { keys }, of);
      expect("access" in found).toBe(allows);
      expect(found).toEqual(allows ? found : withheld(MAY_NOT));
    },
  );
});
