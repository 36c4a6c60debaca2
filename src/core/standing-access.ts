/** Whether somebody may still do what goes on in their name, because a right that was lost must not live on in what they have set up. */
import { type Access, accessOfKey, NO_MEMBERSHIPS } from "./access.ts";
import type { ApiKeyReader } from "./account-ports.ts";
import { apiKeyState, withLastingEnd } from "./api-key-lifecycle.ts";
import { accessOfOwner, type OwnerReaders } from "./owner-access.ts";

export interface StandingReaders extends OwnerReaders {
  apiKeys: Pick<ApiKeyReader, "ofLineage">;
}

/** The access that lets it go on, or what was lost: the person, the right of the person, the key, or the right of the key. */
export type Standing = { access: Access } | { lost: "person" | "right" | "key" | "right of key" };

/**
 * @param by.lineage that of the key that was used; null for none
 * @param now in milliseconds since 1970
 * @param may whether an access is enough
 */
export async function standingAccess(
  read: StandingReaders,
  { owner, lineage }: { owner: string; lineage: string | null },
  now: number,
  may: (access: Access) => boolean,
): Promise<Standing> {
  const person = await accessOfOwner(read, owner);
  if (person === undefined) return { lost: "person" };
  if (!may(person)) return { lost: "right" };
  if (lineage === null) return { access: person };
  // A rotated key has the same lineage, so its successor keeps what it has set up.
  const keys = (await read.apiKeys.ofLineage(lineage)).map(withLastingEnd);
  const active = keys.filter((key) => apiKeyState(key, now) === "active");
  if (active.length === 0) return { lost: "key" };
  for (const key of active) {
    const { user, isSingleProject } = key;
    const memberships =
      user === null || isSingleProject ? NO_MEMBERSHIPS : await read.projects.membershipsOf(key.owner);
    const access = accessOfKey(
      key,
      user && { role: user.role, memberships, isSingleProject },
      isSingleProject,
    );
    if (may(access)) return { access };
  }
  return { lost: "right of key" };
}
