import { PassThrough } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limitMessageSize } from "../../../src/connections/databases/message-size-limit.ts";
import type { StepError } from "../../../src/core/step-errors.ts";

const MAX = 8 * 1024 * 1024;
/** The header of a PostgreSQL message: a type byte, and the length, which includes its own four bytes. */
const header = (length: number): Buffer => {
  const bytes = Buffer.alloc(5, "D");
  bytes.writeUInt32BE(length + 4, 1);
  return bytes;
};

/** Returns the error code of a stream that receives these parts; undefined if it does not fail. */
function errorAfter(parts: readonly Buffer[]): string | undefined {
  const stream = new PassThrough();
  stream.on("error", () => undefined);
  limitMessageSize(stream, 5, (bytes) => bytes.readUInt32BE(1) - 4);
  for (const part of parts) stream.emit("data", part);
  return (stream.errored as StepError | null)?.code;
}

describe("limitMessageSize", () => {
  it("refuses a message that is too large after any others, however the data is split", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 10 }),
        fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1 }),
        fc.boolean(),
        (lengths, cuts, isTooLarge) => {
          const fine = lengths.map((length) => Buffer.concat([header(length), Buffer.alloc(length, 0xff)]));
          const all = Buffer.concat([...fine, header(isTooLarge ? MAX + 1 : MAX)]);
          const parts: Buffer[] = [];
          for (let at = 0, turn = 0; at < all.length; turn += 1) {
            const size = cuts[turn % cuts.length]!;
            parts.push(all.subarray(at, at + size));
            at += size;
          }
          expect(errorAfter(parts)).toBe(isTooLarge ? "output_too_large" : undefined);
        },
      ),
    );
  });

  it("ignores an impossible length", () => {
    const nonsense = Buffer.alloc(10);
    expect(errorAfter([nonsense])).toBeUndefined();
  });
});
