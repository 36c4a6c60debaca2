/**
 * A cache of the `/mcp` sessions that this copy of the server has built. An idle session can be dropped at any time, because
 * it is built again when it is used.
 */
import type { ErrorReporter } from "./server.ts";
import type { Transport } from "./session-transport.ts";

/** Maximum number of cached sessions of a key. Beyond it, the key's least recently used idle session is dropped. */
const MAX_PER_KEY = 100;
const MAX_TOTAL = 1_000;

interface Built {
  keyId: string;
  transport: Promise<Transport>;
  /** Number of requests that are being answered. */
  answering: number;
}

export interface SessionCache {
  /** Runs `work` on the session, which is built if necessary and not dropped meanwhile. */
  withSession<T>(
    id: string,
    keyId: string,
    build: () => Promise<Transport>,
    work: (transport: Transport) => Promise<T>,
  ): Promise<T>;
  /** Removes the session and ends its streams. */
  evict(id: string): void;
  /** Runs `work` on every cached session. */
  forEach(work: (transport: Transport) => Promise<void>): void;
  closeAll(): Promise<void>;
}

export function sessionCache(report: ErrorReporter): SessionCache {
  // In order of use, least recent first.
  const built = new Map<string, Built>();

  const close = ({ transport }: Built): Promise<void> =>
    transport.then((session) => session.close()).catch(report.onError);

  function evict(id: string): void {
    const session = built.get(id);
    built.delete(id);
    if (session !== undefined) void close(session);
  }

  function dropIdle(among: [string, Built][], max: number): void {
    const idle = among.filter(([, { answering }]) => answering === 0);
    for (const [id] of idle.slice(0, Math.max(among.length - max, 0))) evict(id);
  }

  return {
    async withSession(id, keyId, build, work) {
      const session = built.get(id) ?? { keyId, transport: build(), answering: 0 };
      const isNew = !built.delete(id);
      built.set(id, session);
      session.answering += 1;
      if (isNew) {
        dropIdle(
          [...built].filter(([, other]) => other.keyId === keyId),
          MAX_PER_KEY,
        );
        dropIdle([...built], MAX_TOTAL);
      }
      try {
        return await work(
          await session.transport.catch((error: unknown) => {
            // So that the next request tries again.
            if (built.get(id) === session) built.delete(id);
            throw error;
          }),
        );
      } finally {
        session.answering -= 1;
      }
    },
    evict,
    forEach(work) {
      for (const { transport } of built.values()) transport.then(work).catch(report.onError);
    },
    async closeAll() {
      await Promise.all([...built.values()].map(close));
    },
  };
}
