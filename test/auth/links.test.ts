import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { LinkKind } from "../../schemas/user.ts";
import { linkUrl, newLink } from "../../src/auth/links.ts";
import { fakeClock } from "../support/clock.ts";

describe("a new link", () => {
  it.each([
    ["setup", "2026-11-22T08:00:00.000Z"],
    ["invitation", "2026-11-28T08:00:00.000Z"],
    ["verification", "2026-11-22T08:00:00.000Z"],
    ["reset", "2026-11-21T08:30:00.000Z"],
  ] as const)("for %s works until %s", (kind, expiresAt) => {
    const userId = kind === "setup" ? null : "usr_1";
    const { token, record } = newLink(kind, userId, fakeClock());
    expect(token).toMatch(/^[0-9A-Za-z]{32}$/);
    const digest = createHash("sha256").update(token).digest();
    expect(record).toEqual({ kind, userId, createdAt: "2026-11-21T08:00:00.000Z", expiresAt, digest });
  });

  it("is different each time", () => {
    const tokens = Array.from({ length: 1000 }, () => newLink("reset", "usr_1", fakeClock()).token);
    expect(new Set(tokens).size).toBe(1000);
  });
});

describe("linkUrl", () => {
  it("puts the token into the fragment, which browsers do not send", () => {
    for (const kind of LinkKind.options) {
      const url = new URL(linkUrl("https://millrace.example.com/", kind, "abc"));
      expect(url.hash).toBe("#abc");
      expect(url.origin + url.pathname + url.search).toBe(
        `https://millrace.example.com/ui/${kind === "setup" ? "setup" : "link"}`,
      );
    }
    expect(linkUrl("https://millrace.example.com//", "reset", "x")).toBe(
      "https://millrace.example.com/ui/link#x",
    );
    expect(linkUrl("http://127.0.0.1:3000/sub", "setup", "x")).toBe("http://127.0.0.1:3000/sub/ui/setup#x");
  });
});
