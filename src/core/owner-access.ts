import { OPERATOR } from "../../schemas/actor.ts";
import { type Access, accessOfPerson, FULL_ACCESS } from "./access.ts";
import type { UserReader } from "./account-ports.ts";
import type { ProjectReader } from "./project-ports.ts";

/** What the access of an owner is read from. */
export interface OwnerReaders {
  users: Pick<UserReader, "findByEmail">;
  projects: Pick<ProjectReader, "membershipsOf" | "isSingle">;
}

/** What the owner of something may see and do now; undefined for a user who is not active. */
export async function accessOfOwner(
  { users, projects }: OwnerReaders,
  owner: string,
): Promise<Access | undefined> {
  if (owner === OPERATOR) return FULL_ACCESS;
  const user = await users.findByEmail(owner);
  if (user?.status !== "active") return undefined;
  const [memberships, isSingleProject] = [await projects.membershipsOf(owner), await projects.isSingle()];
  return accessOfPerson({ role: user.role, memberships, isSingleProject });
}
