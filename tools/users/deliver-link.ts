/** Delivers an account link by mail, or through the admin who asked for it. */
import { z } from "zod";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { LinkKind } from "../../schemas/user.ts";
import { AppError } from "../../src/core/errors.ts";
import type { Writers } from "../../src/core/ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** Output fields about a link. The link is not stored, so a repeated request can't return it again. */
export const Delivery = {
  sent: z.boolean().meta({ description: "Whether this request sent a mail with the link.", example: true }),
  link: z.string().nullable().meta({
    description:
      "The link to pass on, returned only once, when no mail was sent; null otherwise and in the answer to a repeated request.",
    example: null,
  }),
};

type Kind = Exclude<LinkKind, "setup">;

/** @throws AppError sign_on_elsewhere when users sign in at an identity provider */
export function assertBuiltInAccounts({ accounts }: Pick<ToolContext, "accounts">, message: string): void {
  if (accounts.authMode !== "built-in") throw new AppError("sign_on_elsewhere", message);
}

/** Creates a link that replaces the user's earlier links of the same kind. @returns the token of the link */
export async function replaceLink(
  ctx: ToolContext,
  tx: Pick<Writers, "links">,
  kind: Kind,
  userId: string,
): Promise<string> {
  const { token, record } = ctx.accounts.newLink(kind, userId);
  await tx.links.removeForUser(userId, [kind]);
  await tx.links.insert(record);
  return token;
}

/** Sends a link by mail, if possible. @param token null in a repeated request, which sends nothing */
export async function deliverLink(ctx: ToolContext, kind: Kind, to: string, token: string | null) {
  if (token === null) return { sent: false, link: null };
  const { principal: caller } = ctx.actor;
  const sender = { caller, project: DEFAULT_PROJECT };
  const { sent, link } = await ctx.accounts.sendLink(kind, to, token, caller.owner, sender);
  return { sent, link: sent ? null : link };
}
