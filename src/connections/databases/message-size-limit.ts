/** Limits the size of a server's messages: drivers keep a whole message in memory, and a value can have any size. */
import type { Duplex } from "node:stream";
import { StepError } from "../../core/step-errors.ts";

/** Many times what a step keeps of all rows, so that only what it could never use is refused. */
const MAX_MESSAGE = 8 * 1024 ** 2;

/**
 * Ends a connection with `output_too_large` when a message is announced that is larger than 8 MiB, before it is read.
 * @param stream at a point where the next byte begins a message
 * @param headerBytes of each message
 * @param lengthOf how many bytes follow a header
 */
export function limitMessageSize(
  stream: Duplex,
  headerBytes: number,
  lengthOf: (header: Buffer) => number,
): void {
  const header = Buffer.alloc(headerBytes);
  let known = 0;
  let left = 0;
  stream.prependListener("data", (chunk: Buffer) => {
    let at = 0;
    while (at < chunk.length) {
      const skipped = Math.min(left, chunk.length - at);
      left -= skipped;
      at += skipped;
      const copied = chunk.copy(header, known, at, at + headerBytes - known);
      known += copied;
      at += copied;
      if (known < headerBytes) continue;
      known = 0;
      left = Math.max(0, lengthOf(header));
      if (left > MAX_MESSAGE) return void stream.destroy(tooLarge());
    }
  });
}

const tooLarge = (): StepError =>
  new StepError(
    "output_too_large",
    `A row or value of the result is larger than ${MAX_MESSAGE / 1024 ** 2} MiB.`,
    { fix: "Select fewer columns, or a part of the value, as with left(text, 1000)." },
  );
