/** Everything that stays open, with the key it belongs to: counted, kept alive, closed when its key dies. */
import { AppError } from "../../core/errors.ts";

/** More than this and new ones are refused: each costs memory. */
const MAX_STREAMS = 2_000;

export interface OpenStream {
  keyId: string;
  /** Sends a comment line, so that proxies don't take it for dead. */
  keepAlive?: () => void;
  close(): void;
}

export interface Streams {
  /** @returns a function that forgets the stream again */
  add(stream: OpenStream): () => void;
  /** @throws AppError busy when no more can be opened */
  checkRoom(): void;
  keepAlive(): void;
  /** Closes those whose key is dead. */
  closeDead(deadAmong: (keyIds: readonly string[]) => Promise<string[]>): Promise<void>;
  closeAll(): void;
}

export function openStreams(): Streams {
  const streams = new Set<OpenStream>();
  return {
    checkRoom() {
      if (streams.size < MAX_STREAMS) return;
      throw new AppError(
        "busy",
        "This copy holds as many open streams as it can. Try again, or use /mcp without a stream.",
        {
          headers: { "Retry-After": "5" },
        },
      );
    },
    add(stream) {
      streams.add(stream);
      return () => streams.delete(stream);
    },
    keepAlive() {
      for (const stream of streams) stream.keepAlive?.();
    },
    async closeDead(deadAmong) {
      if (streams.size === 0) return;
      const dead = new Set(await deadAmong([...new Set([...streams].map((stream) => stream.keyId))]));
      for (const stream of streams) if (dead.has(stream.keyId)) stream.close();
    },
    closeAll() {
      for (const stream of streams) stream.close();
    },
  };
}
