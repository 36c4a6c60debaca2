/** The interface of the store for the resources of which MCP clients are notified. */

/** A resource of which a session is notified. */
interface McpSubscription {
  sessionId: string;
  uri: string;
  /** The change mark of the resource when the session subscribed: another one means that it has changed since. */
  mark: string;
}

/** Maximum number of resources of which a session, or a stream without one, is notified. */
export const MAX_SUBSCRIPTIONS = 100;
/** Maximum number of them of a usage subject (usage-limits.ts): in all sessions, and in all streams without one of a copy. */
export const MAX_SUBSCRIPTIONS_PER_OWNER = 1_000;

export interface McpSubscriptionStore {
  /**
   * Subscribes a session to a resource. Again, it begins at the new mark.
   * @param owner the usage subject of the caller
   * @throws AppError too_many_subscriptions, session_not_found
   */
  insert(subscription: McpSubscription, owner: string): Promise<void>;
  /** Does nothing where there is no such subscription. */
  remove(sessionId: string, uri: string): Promise<void>;
  of(sessionIds: readonly string[]): Promise<McpSubscription[]>;
}

/** What clients can be notified of. */
export type WatchedKind = "run" | "workflow" | "approval";

/** A text of each of these that differs after each change of what reading it returns; ids of nothing are left out. */
export type ReadChangeMarks = (kind: WatchedKind, ids: readonly string[]) => Promise<Map<string, string>>;
