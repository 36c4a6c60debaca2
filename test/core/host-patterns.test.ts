import { describe, expect, it } from "vitest";
import { hostMatcher, hostPortOf, mostSpecificHost } from "../../src/core/host-patterns.ts";
import { parseConfig } from "../support/mock-http-server.ts";

const matches = (pattern: string, url: string): boolean => hostMatcher([pattern])(hostPortOf(new URL(url)));

describe("hostMatcher", () => {
  it.each([
    ["hooks.example.com", "https://hooks.example.com/x"],
    ["Hooks.Example.com", "https://hooks.example.com:8443/x"],
    ["hooks.example.com", "https://hooks.example.com./x"],
    ["hooks.example.com:443", "https://hooks.example.com/x"],
    ["hooks.example.com:80", "http://hooks.example.com/x"],
    ["*.example.com", "https://a.example.com"],
    ["*.example.com", "https://a.b.example.com"],
    ["127.0.0.1", "http://0x7f.1/"],
    ["127.0.0.1:8080", "http://2130706433:8080/"],
    ["[::1]:8080", "http://[0:0::1]:8080/"],
  ])("matches %s against %s", (pattern, url) => {
    expect(matches(pattern, url)).toBe(true);
  });

  it.each([
    ["hooks.example.com", "https://example.com"],
    ["hooks.example.com", "https://hooks.example.com.evil.test"],
    ["example.com", "https://a.example.com"],
    ["example.com", "https://notexample.com"],
    ["*.example.com", "https://example.com"],
    ["*.example.com", "https://evilexample.com"],
    ["hooks.example.com:443", "https://hooks.example.com:8443"],
    ["hooks.example.com:443", "http://hooks.example.com"],
    ["[::1]:8080", "http://[::1]:8081/"],
    ["127.0.0.1", "http://127.0.0.2/"],
    ["hooks.example.com", "https://evil.test#hooks.example.com"],
    ["hooks.example.com", "https://evil.test\\@hooks.example.com"],
    ["hooks.example.com", "https://hooks.example.com@evil.test/"],
  ])("does not match %s against %s", (pattern, url) => {
    expect(matches(pattern, url)).toBe(false);
  });

  it.each([["https://example.com"], ["example.com/path"], ["*"], ["*.*.com"], ["::1"], ["a b"], [""]])(
    "never sees %s, because the configuration refuses it",
    (host) => {
      expect(() => parseConfig({ http: { allowed_hosts: [host] } })).toThrow("must be a host such as");
    },
  );
});

const found = (url: string, ...hosts: string[]): string | undefined =>
  mostSpecificHost(
    hosts.map((host) => ({ host })),
    hostPortOf(new URL(url)),
  )?.host;

describe("mostSpecificHost", () => {
  const PATTERNS = ["*.com", "*.example.com", "*.example.com:8443", "pay.example.com", "pay.example.com:443"];

  it.each([
    ["https://pay.example.com/x", "pay.example.com:443"],
    ["http://pay.example.com/x", "pay.example.com"],
    ["https://pay.example.com:8443/x", "pay.example.com"],
    ["https://a.example.com:8443/", "*.example.com:8443"],
    ["https://a.example.com/", "*.example.com"],
    ["https://example.com/", "*.com"],
    ["https://example.org/", undefined],
  ])("finds for %s %s, in any order", (url, expected) => {
    expect(found(url, ...PATTERNS)).toBe(expected);
    expect(found(url, ...PATTERNS.toReversed())).toBe(expected);
  });
});
