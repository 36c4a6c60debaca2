import { describe, expect, it } from "vitest";
import { hostIssue, isLoopback, parseHost } from "../../src/core/hosts.ts";

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

describe("parseHost", () => {
  it.each([
    ["localhost", "localhost", null],
    ["LocalHost:8000", "localhost", 8000],
    ["a-b.my_service.example.com:65535", "a-b.my_service.example.com", 65_535],
    ["127.0.0.1:80", "127.0.0.1", 80],
    ["[::1]", "::1", null],
    ["[FE80::1]:3000", "fe80::1", 3000],
  ])("reads %s", (text, hostname, port) => {
    expect(parseHost(text)).toEqual({ hostname, port });
  });

  it.each([
    "",
    "127.0.0.1#evil.com",
    "127.0.0.1#@evil.com:8000",
    "127.0.0.1/evil.com",
    "127.0.0.1?evil.com",
    "127.0.0.1\\evil.com",
    "user@127.0.0.1",
    "evil.com@127.0.0.1",
    "user:password@localhost:8000",
    "local%68ost",
    "127.0.0.1%00",
    "localhost.",
    "localhost.:8000",
    "local..host",
    ".localhost",
    " localhost",
    "localhost ",
    "local host",
    "localhost\t",
    "localhost:",
    "localhost:0",
    "localhost:65536",
    "localhost:99999999",
    "localhost:80a",
    "localhost:80:80",
    "localhost,evil.com",
    "::1",
    "[::1",
    "[::1]evil.com",
    "[::1%25lo]:8000",
    "[::1%lo]",
    "[127.0.0.1]",
    "[v1.a]",
    "ⅼocalhost",
    "localhost\u3002example",
    "http://localhost",
    `${"a".repeat(300)}.com`,
  ])("refuses %j", (text) => {
    expect(parseHost(text)).toBeUndefined();
  });
});

describe("hostIssue", () => {
  it("takes one valid Host, and an absolute target that names the same host", () => {
    expect(hostIssue("/workflows", ["localhost:3000"])).toBeUndefined();
    expect(hostIssue("/workflows?x=http://evil.com/", ["localhost:3000"])).toBeUndefined();
    expect(hostIssue("HTTP://LOCALHOST:3000/workflows", ["localhost:3000"])).toBeUndefined();
    expect(hostIssue("*", ["localhost"])).toBeUndefined();
    // HTTP/1.0 has none, and some probes send an empty one.
    expect(hostIssue("/health", [])).toBeUndefined();
    expect(hostIssue("/health", [""])).toBeUndefined();
  });

  it.each<[string, string[], RegExp]>([
    ["/", ["localhost", "evil.com"], /several Host headers/],
    ["/", ["localhost", "localhost"], /several Host headers/],
    ["/", ["127.0.0.1#evil.com"], /not valid/],
    ["http://evil.com/", ["localhost"], /names another host/],
    ["http://localhost@evil.com/", ["localhost"], /names another host/],
    ["http://localhost#@evil.com/", ["evil.com"], /names another host/],
    ["http:///x", ["localhost"], /names another host/],
  ])("refuses %s with %j", (target, hosts, issue) => {
    expect(hostIssue(target, hosts)).toMatch(issue);
  });
});
