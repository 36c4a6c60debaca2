/**
 * A cache of the `/mcp` sessions that this copy of the server has built. An idle session can be dropped at any time, because
 * it is built again when it is used.
 */
import type { Access } from "../../core/access.ts";
import type { Principal } from "../../core/principal.ts";
import type { ErrorReporter } from "./server.ts";
import type { Transport } from "./session-transport.ts";

/** Maximum number of cached sessions of a key. Beyond it, the key's least recently used idle session is dropped. */
const MAX_PER_KEY = 100;
/** Maximum number of cached sessions of all keys. */
const MAX_TOTAL = 1_000;

interface CachedSession {
  keyId: string;
  /** What its caller may see and do, as of the last request. */
  access: Access;
  transport: Promise<Transport>;
  /** Number of requests in flight. */
  inFlight: number;
}

export interface SessionCache {
  /** Runs `work` on the session, which is built if necessary and not dropped meanwhile. */
  withSession<T>(
    id: string,
    caller: Pick<Principal, "keyId" | "access">,
    build: () => Promise<Transport>,
    work: (transport: Transport) => Promise<T>,
  ): Promise<T>;
  /** Removes the session and ends its streams. */
  evict(id: string): void;
  /** Runs `work` on the cached sessions of these callers. */
  forEach(isMeant: (access: Access) => boolean, work: (transport: Transport) => Promise<void>): void;
  closeAll(): Promise<void>;
}

export function sessionCache(report: ErrorReporter): SessionCache {
  // In order of use, least recent first.
  const cached = new Map<string, CachedSession>();

  const close = ({ transport }: CachedSession): Promise<void> =>
    transport.then((session) => session.close()).catch(report.onError);

  function evict(id: string): void {
    const session = cached.get(id);
    cached.delete(id);
    if (session !== undefined) void close(session);
  }

  /** Evicts the least recently used idle sessions until at most `max` are left, or none is idle. */
  function evictIdle(entries: [string, CachedSession][], max: number): void {
    const idle = entries.filter(([, { inFlight }]) => inFlight === 0);
    for (const [id] of idle.slice(0, Math.max(entries.length - max, 0))) evict(id);
  }

  return {
    async withSession(id, { keyId, access }, build, work) {
      const session = cached.get(id) ?? { keyId, access, transport: build(), inFlight: 0 };
      session.access = access;
      const isNew = !cached.delete(id);
      cached.set(id, session);
      session.inFlight += 1;
      if (isNew) {
        evictIdle(
          [...cached].filter(([, other]) => other.keyId === keyId),
          MAX_PER_KEY,
        );
        evictIdle([...cached], MAX_TOTAL);
      }
      try {
        return await work(
          await session.transport.catch((error: unknown) => {
            // The next request builds it again.
            if (cached.get(id) === session) cached.delete(id);
            throw error;
          }),
        );
      } finally {
        session.inFlight -= 1;
      }
    },
    evict,
    forEach(isMeant, work) {
      for (const { access, transport } of cached.values())
        if (isMeant(access)) transport.then(work).catch(report.onError);
    },
    async closeAll() {
      await Promise.all([...cached.values()].map(close));
    },
  };
}
