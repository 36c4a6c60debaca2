import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cursorCodec } from "../../src/core/cursors.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ListPosition } from "../../src/core/model.ts";

const codec = cursorCodec(Buffer.alloc(32, 7));
const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

const text = fc.string({ unit: "binary", maxLength: 40 });
const position = fc.tuple(text, text) as fc.Arbitrary<ListPosition>;

function refused(cursor: string, query = "q", decoder = codec): boolean {
  try {
    decoder.decode(query, cursor);
    return false;
  } catch (error) {
    return error instanceof AppError && error.code === "invalid_cursor";
  }
}

describe("cursors", () => {
  it("decode to the position that was encoded", () => {
    fc.assert(
      fc.property(text, position, (query, at) => {
        expect(codec.decode(query, codec.encode(query, at))).toEqual(at);
      }),
    );
  });

  it("are refused with one character changed", () => {
    fc.assert(
      fc.property(position, fc.nat(), fc.constantFrom(...Array.from(BASE64URL)), (at, where, letter) => {
        const cursor = codec.encode("q", at);
        const index = where % cursor.length;
        fc.pre(cursor[index] !== letter);
        expect(refused(cursor.slice(0, index) + letter + cursor.slice(index + 1))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it("are refused with one bit flipped", () => {
    fc.assert(
      fc.property(position, fc.nat(), (at, where) => {
        const bytes = Buffer.from(codec.encode("q", at), "base64url");
        const bit = where % (bytes.length * 8);
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        expect(refused(bytes.toString("base64url"))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it("are refused with a byte removed or added anywhere", () => {
    fc.assert(
      fc.property(position, fc.nat(), fc.nat(255), (at, where, added) => {
        const bytes = Buffer.from(codec.encode("q", at), "base64url");
        const index = where % bytes.length;
        const without = Buffer.concat([bytes.subarray(0, index), bytes.subarray(index + 1)]);
        const withOne = Buffer.concat([bytes.subarray(0, index), Buffer.of(added), bytes.subarray(index)]);
        const after = Buffer.concat([bytes, Buffer.of(added)]);
        const accepted = [without, withOne, after].filter(
          (changed) => !refused(changed.toString("base64url")),
        );
        expect(accepted).toEqual([]);
      }),
    );
  });

  it("are accepted only in their canonical spelling", () => {
    fc.assert(
      fc.property(
        position,
        fc.nat(),
        fc.constantFrom("=", " ", "\n", "!", "+", "/", "."),
        (at, where, odd) => {
          const cursor = codec.encode("q", at);
          const index = where % (cursor.length + 1);
          const padded = cursor.padEnd(Math.ceil(cursor.length / 4) * 4, "=");
          return (
            refused(cursor.slice(0, index) + odd + cursor.slice(index)) &&
            (padded === cursor || refused(padded))
          );
        },
      ),
    );
    // The last character of a cursor that is not a multiple of three bytes has bits that decode to nothing.
    const cursor = codec.encode("q", ["a", "b"]);
    expect(Buffer.from(cursor, "base64url").length % 3).not.toBe(0);
    const last = BASE64URL.indexOf(cursor.at(-1)!);
    const twin = cursor.slice(0, -1) + BASE64URL[last + 1]!;
    expect(Buffer.from(twin, "base64url")).toEqual(Buffer.from(cursor, "base64url"));
    expect(refused(twin)).toBe(true);
  });

  it("belong to one list", () => {
    fc.assert(
      fc.property(text, text, position, (query, other, at) => {
        fc.pre(query !== other);
        expect(refused(codec.encode(query, at), other)).toBe(true);
      }),
    );
  });

  it("belong to one instance", () => {
    const other = cursorCodec(Buffer.alloc(32, 8));
    fc.assert(
      fc.property(position, (at) => {
        expect(refused(other.encode("q", at))).toBe(true);
      }),
    );
  });

  it("are refused when they are other text", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (junk) => refused(junk)));
    expect(refused("")).toBe(true);
  });
});

describe("sealed numbers", () => {
  it("are the numbers again, the same text each time, and of one length", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (one, other) => {
        const sealed = codec.seal(one);
        expect(codec.unseal(sealed)).toBe(one);
        expect(codec.seal(one)).toBe(sealed);
        expect(codec.seal(other)).toHaveLength(sealed.length);
        expect(codec.seal(other) === sealed).toBe(one === other);
      }),
    );
  });

  it("are refused when they are forged, or those of another instance", () => {
    const sealed = codec.seal(4711);
    const changed = `${sealed.slice(0, -1)}${sealed.endsWith("A") ? "B" : "A"}`;
    for (const forged of ["", "4711", changed, sealed.slice(1), `${sealed}A`])
      expect(() => codec.unseal(forged)).toThrow(AppError);
    expect(() => cursorCodec(Buffer.alloc(32, 8)).unseal(sealed)).toThrow(AppError);
  });
});
