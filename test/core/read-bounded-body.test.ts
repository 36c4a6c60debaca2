import { describe, expect, it } from "vitest";
import { readBoundedBody } from "../../src/core/read-bounded-body.ts";

const tooLarge = (): Error => new Error("too large");

async function* chunks(count: number, read: number[] = []): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index += 1) {
    read.push(index);
    yield new Uint8Array([1, 2, 3]);
  }
}

describe("readBoundedBody", () => {
  it("returns a body of exactly the maximum size, and an empty buffer without a body", async () => {
    expect(await readBoundedBody(chunks(2), 6, tooLarge)).toEqual(Buffer.from([1, 2, 3, 1, 2, 3]));
    expect(await readBoundedBody(null, 6, tooLarge)).toEqual(Buffer.alloc(0));
  });

  it("stops reading a larger body", async () => {
    const read: number[] = [];
    await expect(readBoundedBody(chunks(100, read), 5, tooLarge)).rejects.toThrow("too large");
    expect(read).toEqual([0, 1]);
  });
});
