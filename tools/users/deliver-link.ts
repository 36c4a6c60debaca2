/** Getting a link to whom it is for: by mail, or by the hands of the admin who asked for it. */
import { z } from "zod";
import type { LinkKind } from "../../schemas/user.ts";
import { AppError } from "../../src/core/errors.ts";
import type { Writers } from "../../src/core/ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** What is told of a link. It is stored nowhere, so a repeated request can't get it again. */
export const Delivery = {
  sent: z.boolean().meta({ description: "Whether this request sent a mail with the link.", example: true }),
  link: z.string().nullable().meta({
    description:
      "The link to hand on where no mail was sent, this one time; null also where the request is a repeated one.",
    example: null,
  }),
};

type Kind = Exclude<LinkKind, "setup">;

/** @throws AppError sign_on_elsewhere where people sign in at an identity provider */
export function assertBuiltInAccounts({ accounts }: Pick<ToolContext, "accounts">, why: string): void {
  if (accounts.authMode !== "built-in") throw new AppError("sign_on_elsewhere", why);
}

/** Makes a link in place of those of its kind that the user had. @returns its token */
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

/** @param token null where the request is a repeated one: nothing is sent twice */
export async function deliverLink(ctx: ToolContext, kind: Kind, to: string, token: string | null) {
  if (token === null) return { sent: false, link: null };
  const { sent, link } = await ctx.accounts.sendLink(kind, to, token, ctx.actor.principal.owner);
  return { sent, link: sent ? null : link };
}
