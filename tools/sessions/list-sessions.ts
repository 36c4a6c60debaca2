import { z } from "zod";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { Session } from "../../schemas/user.ts";
import type { SessionRecord } from "../../src/core/session-ports.ts";
import { iso } from "../../src/core/clock.ts";
import type { ListPosition } from "../../src/core/model.ts";
import { defineTool } from "../../src/core/tool.ts";

export const listSessions = defineTool({
  name: "list_sessions",
  title: "List your sessions",
  description: "Lists the browsers in which you are signed in, last used first.",
  route: "GET /sessions",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "read",
  errors: ["invalid_cursor"],
  page: { item: Session, mcpLimit: 50 },
  input: z.strictObject({ limit: Limit.optional(), cursor: Cursor.optional() }),
  output: pageOf(Session),
  async run({ limit, cursor }, ctx) {
    const { keyId, lineage: userId } = ctx.actor.principal;
    const query = JSON.stringify(["list_sessions", userId]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    // Reads all sessions at once, because a user has few and they expire.
    const all = await ctx.read.sessions.listByUser(userId, iso(ctx.now()), ctx.accounts.idleSince());
    const remaining = all.filter((session) => after === null || isAfter(session, after));
    const items = remaining.slice(0, limit ?? listSessions.page!.mcpLimit);
    const last = items.at(-1);
    return {
      items: items.map((session) => serializeSession(session, keyId)),
      total: all.length,
      next_cursor:
        last === undefined || items.length === remaining.length
          ? null
          : ctx.cursors.encode(query, positionOf(last)),
    };
  },
});

const positionOf = ({ lastSeenAt, id }: SessionRecord): ListPosition => [lastSeenAt, id];

const isAfter = ({ lastSeenAt, id }: SessionRecord, [at, last]: ListPosition): boolean =>
  lastSeenAt < at || (lastSeenAt === at && id < last);

const serializeSession = (session: SessionRecord, current: string): Session => ({
  id: session.id,
  current: session.id === current,
  client: session.client,
  address: session.address,
  created_at: session.createdAt,
  seen_at: session.lastSeenAt,
  expires_at: session.expiresAt,
});
