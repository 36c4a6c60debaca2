import { describe, expect, it } from "vitest";
import { isLoopback } from "../../src/core/hosts.ts";

describe("isLoopback", () => {
  it.each(["localhost", "LOCALHOST", "127.0.0.1", "127.3.2.1", "::1", "[::1]", "0:0:0:0:0:0:0:1"])(
    "is true for %s",
    (host) => expect(isLoopback(host)).toBe(true),
  );

  it.each(["", "0.0.0.0", "::", "128.0.0.1", "127.0.0.1.example.com", "localhost.example.com", "[::2]"])(
    "is false for %j",
    (host) => expect(isLoopback(host)).toBe(false),
  );
});
