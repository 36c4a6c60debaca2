/** Single-use links for invitations, password resets, address verification and the first setup. */
import type { LinkKind } from "../../schemas/user.ts";
import type { LinkRecord } from "../core/account-ports.ts";
import { type Clock, DAY, HOUR, iso, MINUTE } from "../core/clock.ts";
import { digestOf, randomBase62 } from "./key-format.ts";

/** Length of a token, in base62 characters. With 190 bits, a fast digest is enough for storage. */
const TOKEN_LENGTH = 32;

/** How long each kind of link works, in milliseconds. A setup link ends earlier when the first admin is created. */
export const LINK_LIFETIME_MS: Readonly<Record<LinkKind, number>> = {
  setup: 24 * HOUR,
  invitation: 7 * DAY,
  verification: 24 * HOUR,
  reset: 30 * MINUTE,
};

/** A token, and the digest that is stored instead of it. */
export function newLinkToken(): { token: string; digest: Buffer } {
  const token = randomBase62(TOKEN_LENGTH);
  return { token, digest: digestOf(token) };
}

/** Creates a link. The token is returned only here; the record holds its digest. */
export function newLink(
  kind: LinkKind,
  userId: string | null,
  clock: Clock,
): { token: string; record: LinkRecord & { digest: Buffer } } {
  const { token, digest } = newLinkToken();
  const now = clock.now();
  const record = {
    kind,
    userId,
    createdAt: iso(now),
    expiresAt: iso(now + LINK_LIFETIME_MS[kind]),
    digest,
  };
  return { token, record };
}

/**
 * Returns the URL of a link. The token is in the fragment, which browsers do not send, so it appears in no server log and no
 * Referer header.
 * @param baseUrl the configured URL, never the Host header of a request, which a client can choose (OWASP, Forgot Password)
 */
export function linkUrl(baseUrl: string, kind: LinkKind, token: string): string {
  return `${baseUrl.replace(/\/+$/, "")}/ui/${kind === "setup" ? "setup" : "link"}#${token}`;
}
