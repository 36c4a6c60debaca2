/**
 * In whose name a subscription delivers values of runs: that of who last set its URL or `include_values`. Each attempt asks whether
 * they may still read these values, because a right that somebody has lost must not live on in what they have set up.
 */
import { type Access, accessOfKey, isVisible, mayUseTool, NO_MEMBERSHIPS, visibilityOf } from "./access.ts";
import type { ApiKeyReader } from "./account-ports.ts";
import { apiKeyState, withLastingEnd } from "./api-key-lifecycle.ts";
import { accessOfOwner } from "./owner-access.ts";
import type { Principal, Readers } from "./ports.ts";
import type { SubscriptionRecord } from "./subscription-ports.ts";

/** The operation with which values of runs are read. */
const READS_VALUES = "get_run";

type Confirmation = Pick<SubscriptionRecord, "confirmedBy" | "confirmedLineage" | "confirmedAt">;
type Read = Pick<Readers, "users" | "projects"> & { apiKeys: Pick<ApiKeyReader, "ofLineage"> };

/** @param at ISO 8601 */
export const confirmationBy = ({ kind, owner, lineage }: Principal, at: string): Confirmation => ({
  confirmedBy: owner,
  confirmedLineage: kind === "key" ? lineage : null,
  confirmedAt: at,
});

/** Why values are left out, for those who manage the subscription, and what the access for the others is. */
export type ValuesGrant = { access: Access } | { withheld: string };

/**
 * Whether the values of a run, or of any run of the project, may go where a subscription says.
 * @param of.workflowId left out, whether those of any workflow may
 * @param now in milliseconds since 1970
 */
export async function valuesGrant(
  read: Read,
  { project, confirmedBy, confirmedLineage }: SubscriptionRecord,
  now: number,
  of: { workflowId?: string | null } = {},
): Promise<ValuesGrant> {
  if (confirmedBy === null) return withheld("nobody of this instance has set its URL");
  const person = await accessOfOwner(read, confirmedBy);
  if (person === undefined)
    return withheld(`${confirmedBy}, who set its URL, is not an active user any more`);
  const mayRead = (access: Access): boolean =>
    isVisible(visibilityOf(access, "read"), { project, ...of }) && mayUseTool(access, READS_VALUES);
  if (!mayRead(person))
    return withheld(`${confirmedBy}, who set its URL, can't read runs of this project any more`);
  if (confirmedLineage === null) return { access: person };
  // A rotated key has the same lineage, so its successor keeps what it has set up.
  const keys = (await read.apiKeys.ofLineage(confirmedLineage)).map(withLastingEnd);
  const active = keys.filter((key) => apiKeyState(key, now) === "active");
  if (active.length === 0)
    return withheld(`the API key of ${confirmedBy} that set its URL is revoked or has expired`);
  for (const key of active) {
    const { user, isSingleProject } = key;
    const memberships =
      user === null || isSingleProject ? NO_MEMBERSHIPS : await read.projects.membershipsOf(key.owner);
    const access = accessOfKey(
      key,
      user && { role: user.role, memberships, isSingleProject },
      isSingleProject,
    );
    if (mayRead(access)) return { access };
  }
  return withheld(`the API key of ${confirmedBy} that set its URL may not read these runs`);
}

const withheld = (why: string): ValuesGrant => ({
  withheld:
    `Values are left out, because ${why}. An admin of the project who may read its runs confirms the subscription: set url, ` +
    "url_secret or include_values again, after a look at where it delivers to.",
});
