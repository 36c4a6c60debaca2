/** The interface of the store for sessions and streams of MCP clients. */

/** A session of a 2025-era MCP client, or an open SSE stream. */
export interface McpSession {
  id: string;
  keyId: string;
  kind: "http" | "sse";
  /** The `initialize` request, which any process can replay; null for a stream. */
  initialize: string | null;
  /** The process that holds a stream, which sends heartbeats; null for a session, and for streams of older releases. */
  holder: string | null;
}

export interface McpSessionStore {
  find(id: string): Promise<McpSession | undefined>;
  /** Inserts a session, and registers the holder of a stream. */
  insert(session: McpSession): Promise<void>;
  remove(id: string): Promise<void>;
  /** Marks these sessions as in use, and deletes sessions unused for long and messages that no process fetched. */
  keepAlive(ids: readonly string[]): Promise<void>;
  /** Records a heartbeat. @returns false when the holder is not registered: it had no streams, or missed its heartbeats */
  heartbeat(holder: string): Promise<boolean>;
  /** Number of heartbeats of a holder; undefined when it is not registered. */
  heartbeatsOf(holder: string): Promise<number | undefined>;
  /** Removes a holder that stops. Its streams are removed one by one. */
  removeHolder(holder: string): Promise<void>;
  /**
   * Queues a message for the process that holds the stream.
   * @returns the id of the message
   * @throws AppError busy when the queue of the stream is full
   */
  enqueueMessage(sessionId: string, body: string): Promise<number>;
  /** Whether no process has fetched the message yet. */
  isQueued(messageId: number): Promise<boolean>;
  /**
   * Removes the holder of a stream with all its streams and their messages.
   * @param unless.messageId keeps them when this message has been fetched
   * @param unless.heartbeats keeps them when this is no longer the number of heartbeats
   * @returns whether they were removed
   */
  removeDeadHolder(
    stream: Pick<McpSession, "id" | "holder">,
    unless: { messageId: number; heartbeats: number | undefined },
  ): Promise<boolean>;
  /** Removes and returns up to `limit` messages for these streams, oldest first. Each is returned to one caller. */
  dequeueMessages(
    sessionIds: readonly string[],
    limit: number,
  ): Promise<{ sessionId: string; body: string }[]>;
}
