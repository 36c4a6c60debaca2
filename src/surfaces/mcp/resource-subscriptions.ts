/** `resources/subscribe` for sessions, and the resources of `subscriptions/listen` for clients of 2026-07-28. */
import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import {
  MAX_SUBSCRIPTIONS,
  type McpSubscriptionStore,
  type ReadChangeMarks,
} from "../../core/mcp-subscription-port.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import { type OperationsOf, withProtocolErrors } from "./read-operation.ts";
import { identityOf } from "./request-identity.ts";
import { findWatched, WATCHED_TEMPLATES, type WatchedResource } from "./resource-kinds.ts";
import { readResource } from "./resources.ts";

export interface SubscriptionServices {
  subscriptions: McpSubscriptionStore;
  readChangeMarks: ReadChangeMarks;
}

/** Registers the handlers of subscriptions on a new server. Its transport sends the notices (`resource-watch.ts`). */
export function registerSubscriptions(
  server: Server,
  operationsOf: OperationsOf,
  { subscriptions, readChangeMarks }: SubscriptionServices,
): void {
  server.registerCapabilities({ resources: { subscribe: true } });
  server.setRequestHandler("resources/subscribe", ({ params }, ctx) =>
    withProtocolErrors(ctx, async () => {
      const sessionId = sessionOf(ctx);
      const operations = operationsOf(server, ctx, "resources/subscribe");
      const found = findWatched(params.uri);
      // Before the read, so that a change after it is noticed. What the caller can't read is refused as a read of it is.
      const mark = found && (await readChangeMarks(found.kind.watched, [found.id])).get(found.id);
      const { uri } = await readResource(operations, params.uri);
      if (found === undefined || mark === undefined) throw notWatched(uri);
      const owner = usageSubjectOf(identityOf(ctx).principal);
      await subscriptions.insert({ sessionId, uri: found.uri, mark }, owner);
      return {};
    }),
  );
  server.setRequestHandler("resources/unsubscribe", ({ params }, ctx) =>
    withProtocolErrors(ctx, async () => {
      const found = findWatched(params.uri);
      if (found === undefined) throw notWatched(params.uri);
      await subscriptions.remove(sessionOf(ctx), found.uri);
      return {};
    }),
  );
}

function sessionOf({ sessionId }: ServerContext): string {
  if (sessionId === undefined)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidRequest,
      "A subscription needs a session. Start one with initialize, and send its Mcp-Session-Id.",
    );
  return sessionId;
}

const notWatched = (uri: string): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There are no notices of ${JSON.stringify(uri.slice(0, 200))}. You can subscribe to ${WATCHED_TEMPLATES.join(", ")}.`,
  );

const Listen = z.looseObject({
  id: z.union([z.string(), z.number()]),
  params: z.looseObject({
    notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()).nonempty() }),
  }),
});

export interface ResourceListening {
  /** The resources that can be watched, without those of no kind. */
  resources: WatchedResource[];
  /** Why it is refused, as a JSON-RPC error; undefined when it is not. */
  refusal: object | undefined;
  /** The message with the URIs that are honoured in place of those that were sent. */
  withUris(uris: readonly string[]): unknown;
}

/** The resources of which a `subscriptions/listen` message wants to be notified; undefined for none. */
export function resourceListeningOf(message: unknown): ResourceListening | undefined {
  const { data } = Listen.safeParse(message);
  if (data === undefined) return undefined;
  const { id, params } = data;
  const written = new Set(params.notifications.resourceSubscriptions);
  const error = {
    code: ProtocolErrorCode.InvalidParams,
    message: `A subscription has at most ${MAX_SUBSCRIPTIONS} resources, and this one names ${written.size}. Use several subscriptions.`,
  };
  const isTooLarge = written.size > MAX_SUBSCRIPTIONS;
  return {
    resources: isTooLarge ? [] : [...written].flatMap((uri) => findWatched(uri) ?? []),
    refusal: isTooLarge ? { jsonrpc: "2.0", id, error } : undefined,
    withUris: (uris) => ({
      ...data,
      params: { ...params, notifications: { ...params.notifications, resourceSubscriptions: uris } },
    }),
  };
}
