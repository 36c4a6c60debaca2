/**
 * In whose name a subscription delivers values of runs: that of who last set its URL or `include_values`. Each attempt asks whether
 * they may still read these values, because a right that somebody has lost must not live on in what they have set up.
 */
import { type Access, isVisible, mayUseTool, visibilityOf } from "./access.ts";
import type { Principal } from "./ports.ts";
import { type Standing, standingAccess, type StandingReaders } from "./standing-access.ts";
import type { SubscriptionRecord } from "./subscription-ports.ts";

/** The operation with which values of runs are read. */
const READS_VALUES = "get_run";

type Confirmation = Pick<SubscriptionRecord, "confirmedBy" | "confirmedLineage" | "confirmedAt">;

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
  read: StandingReaders,
  { project, confirmedBy, confirmedLineage }: SubscriptionRecord,
  now: number,
  of: { workflowId?: string | null } = {},
): Promise<ValuesGrant> {
  if (confirmedBy === null) return withheld("nobody of this instance has set its URL");
  const mayRead = (access: Access): boolean =>
    isVisible(visibilityOf(access, "read"), { project, ...of }) && mayUseTool(access, READS_VALUES);
  const by = { owner: confirmedBy, lineage: confirmedLineage };
  const standing = await standingAccess(read, by, now, mayRead);
  return "access" in standing ? standing : withheld(WHY[standing.lost](confirmedBy));
}

const WHY: Readonly<Record<Extract<Standing, { lost: string }>["lost"], (who: string) => string>> = {
  person: (who) => `${who}, who set its URL, is not an active user any more`,
  right: (who) => `${who}, who set its URL, can't read runs of this project any more`,
  key: (who) => `the API key of ${who} that set its URL is revoked or has expired`,
  "right of key": (who) => `the API key of ${who} that set its URL may not read these runs`,
};

const withheld = (why: string): ValuesGrant => ({
  withheld:
    `Values are left out, because ${why}. An admin of the project who may read its runs confirms the subscription: set url, ` +
    "url_secret or include_values again, after a look at where it delivers to.",
});
