/**
 * The sessions of `/mcp` as this copy has built them. One that answers nothing can be dropped at any time: it is built
 * again when it is used.
 */
import type { ErrorReporter } from "./server.ts";
import type { Transport } from "./session-transport.ts";

/** Built sessions that a key's clients keep on one copy; beyond it, its own one used longest ago goes. */
const MAX_OF_A_KEY = 100;
const MAX_OF_ALL = 1_000;

interface Built {
  keyId: string;
  transport: Promise<Transport>;
  /** How many answers are on their way. */
  answering: number;
}

export interface SessionCache {
  /** Carries out `work` on the session, built first where it is not; nothing drops it meanwhile. */
  withSession<T>(
    id: string,
    keyId: string,
    build: () => Promise<Transport>,
    work: (transport: Transport) => Promise<T>,
  ): Promise<T>;
  /** Forgets the session and ends its streams. */
  evict(id: string): void;
  /** Hands every session that is built to `work`. */
  forEach(work: (transport: Transport) => Promise<void>): void;
  closeAll(): Promise<void>;
}

export function sessionCache(report: ErrorReporter): SessionCache {
  // In the order of use.
  const built = new Map<string, Built>();

  const close = ({ transport }: Built): Promise<void> =>
    transport.then((it) => it.close()).catch(report.onError);

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
          MAX_OF_A_KEY,
        );
        dropIdle([...built], MAX_OF_ALL);
      }
      try {
        return await work(
          await session.transport.catch((error: unknown) => {
            // The next one tries again.
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
