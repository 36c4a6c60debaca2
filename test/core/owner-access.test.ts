import { describe, expect, it } from "vitest";
import type { UserStatus } from "../../schemas/user.ts";
import { accessOfPerson, FULL_ACCESS } from "../../src/core/access.ts";
import { accessOfOwner } from "../../src/core/owner-access.ts";
import { ANN, rolesIn } from "../support/callers.ts";

const roles = rolesIn("viewer", { finance: "editor" });

/** The access of Ann, whose account has this status; undefined for no account. */
const accessOfAnn = (status: UserStatus | undefined, owner = ANN) =>
  accessOfOwner(
    {
      users: {
        findByEmail: async (email: string) =>
          status && email === ANN ? { status, role: "viewer" } : undefined,
      },
      projects: { membershipsOf: async () => roles.memberships, isSingle: async () => false },
    } as unknown as Parameters<typeof accessOfOwner>[0],
    owner,
  );

describe("accessOfOwner", () => {
  it("is what the roles of an active user allow, and everything for the operator", async () => {
    expect(await accessOfAnn("active")).toEqual(accessOfPerson(roles));
    expect(await accessOfAnn(undefined, "operator")).toBe(FULL_ACCESS);
  });

  it.each(["invited", "deactivated", undefined] as const)(
    "is undefined for a user who is %s",
    async (status) => {
      expect(await accessOfAnn(status)).toBeUndefined();
    },
  );
});
