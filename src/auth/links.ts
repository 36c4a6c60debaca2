/** Links that work once: an invitation, a new password, an address that is somebody's, and the first visit. */
import type { LinkKind } from "../../schemas/user.ts";
import type { LinkRecord } from "../core/account-ports.ts";
import { type Clock, DAY, HOUR, iso, MINUTE } from "../core/clock.ts";
import { digestOf, randomBase62 } from "./key-format.ts";

/** 190 bits: a fast digest is enough to keep. */
const TOKEN_LENGTH = 32;

/** How long each works, in milliseconds; setup ends before, when the first admin was made. */
export const LINK_LIFETIME_MS: Readonly<Record<LinkKind, number>> = {
  setup: 24 * HOUR,
  invitation: 7 * DAY,
  verification: 24 * HOUR,
  reset: 30 * MINUTE,
};

/** Makes one. The token is nowhere but in what this gives. */
export function newLink(
  kind: LinkKind,
  userId: string | null,
  clock: Clock,
): { token: string; record: LinkRecord & { digest: Buffer } } {
  const token = randomBase62(TOKEN_LENGTH);
  const now = clock.now();
  const record = {
    kind,
    userId,
    createdAt: iso(now),
    expiresAt: iso(now + LINK_LIFETIME_MS[kind]),
    digest: digestOf(token),
  };
  return { token, record };
}

/**
 * The address to open. The token stands in the fragment, which a browser sends to nobody: it gets into no server's log
 * and no Referer.
 * @param baseUrl as configured, never from a request's Host: who asks could name another (OWASP, Forgot Password)
 */
export function linkUrl(baseUrl: string, kind: LinkKind, token: string): string {
  return `${baseUrl.replace(/\/+$/, "")}/ui/${kind === "setup" ? "setup" : "link"}#${token}`;
}
