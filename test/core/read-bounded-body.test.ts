import { describe, expect, it } from "vitest";
import { readBoundedBody } from "../../src/core/read-bounded-body.ts";

const tooLarge = (): Error => new Error("too large");

async function* chunks(count: number, read: number[] = []): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index += 1) {
    read.push(index);
    yield new Uint8Array([1, 2, 3]);
  }
}

describe("boundedBody", () => {
  it("gives all of a body that is as large as it may be, and nothing of none", async () => {
    expect(await readBoundedBody(chunks(2), 6, tooLarge)).toEqual(Buffer.from([1, 2, 3, 1, 2, 3]));
    expect(await readBoundedBody(null, 6, tooLarge)).toEqual(Buffer.alloc(0));
  });

  it("stops reading one that is larger", async () => {
    const read: number[] = [];
    await expect(readBoundedBody(chunks(100, read), 5, tooLarge)).rejects.toThrow("too large");
    expect(read).toEqual([0, 1]);
  });
});
