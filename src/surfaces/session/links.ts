import { text } from "../../../schemas/text.ts";
import type { LinkKind } from "../../../schemas/user.ts";
import { digestOf } from "../../auth/key-format.ts";
import type { LinkRecord } from "../../core/account-ports.ts";
import { iso } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { SessionContext } from "./endpoint.ts";

export const LinkToken = text(200, 1).meta({
  description: "The part of a link after the #.",
  example: "0aZr4mXw1kq0Zr4mXw5pXq0aZr4mXw1k",
});

/** Finds a valid link and its user, without using the link. @throws AppError link_expired */
export async function resolveLink(ctx: SessionContext, token: string, kinds: readonly LinkKind[]) {
  const link = await requireValidLink(ctx, ctx.services.read.links.find(digestOf(token)), kinds);
  const user = link.userId === null ? undefined : await ctx.services.read.users.find(link.userId);
  if (user?.status === "deactivated") throw linkExpired();
  return { link, user };
}

/** Checks that a link exists, has one of the kinds and has not expired. @throws AppError link_expired */
export async function requireValidLink(
  ctx: SessionContext,
  search: Promise<LinkRecord | undefined>,
  kinds: readonly LinkKind[],
): Promise<LinkRecord> {
  const link = await search;
  if (link === undefined || !kinds.includes(link.kind)) throw linkExpired(kinds);
  if (link.expiresAt !== null && link.expiresAt <= iso(ctx.services.clock.now())) throw linkExpired(kinds);
  return link;
}

export const linkExpired = (kinds: readonly LinkKind[] = []): AppError =>
  new AppError(
    "link_expired",
    kinds.length === 1 && kinds[0] === "setup"
      ? "This setup token is not valid: it is mistyped, or older than 24 hours. Start Millrace again to get a new link."
      : "This link is no longer valid: it was used, was replaced by a newer one, or has expired. Ask for a new link.",
  );
