import { describe, expect, it } from "vitest";
import { isCrossSiteNavigation, rejectCrossSiteRequest } from "../../src/auth/csrf.ts";
import type { AppError } from "../../src/core/errors.ts";

const HOST = "millrace.example.com";

function refused(method: string, headers: Record<string, string>, own?: string[]): boolean {
  try {
    rejectCrossSiteRequest(method, { host: HOST, ...headers }, own);
    return false;
  } catch (error) {
    return (error as AppError).code === "forbidden_origin";
  }
}

const attempt = () => rejectCrossSiteRequest("POST", { origin: "https://evil.test" });

describe("rejectCrossSiteRequest", () => {
  // The cases are those of Go's net/http csrf_test.go, and some from browsers and proxies.
  it.each<[string, Record<string, string>, boolean]>([
    ["same-origin", { "sec-fetch-site": "same-origin" }, false],
    ["an address that a person entered", { "sec-fetch-site": "none" }, false],
    ["cross-site", { "sec-fetch-site": "cross-site" }, true],
    ["same-site", { "sec-fetch-site": "same-site" }, true],
    ["an unknown value", { "sec-fetch-site": "whatever" }, true],
    ["two values", { "sec-fetch-site": "same-origin, cross-site" }, true],
    [
      "cross-site that claims our origin",
      { "sec-fetch-site": "cross-site", origin: `https://${HOST}` },
      true,
    ],
    [
      "same-origin, whatever the origin",
      { "sec-fetch-site": "same-origin", origin: "https://evil.test" },
      false,
    ],
    ["no browser", {}, false],
    ["empty headers", { "sec-fetch-site": "", origin: "" }, false],
    ["an old browser, our origin", { origin: `https://${HOST}` }, false],
    ["an old browser, our origin over http", { origin: `http://${HOST}` }, false],
    ["an old browser, the host in capitals", { origin: `https://${HOST}`, host: HOST.toUpperCase() }, false],
    ["an old browser, our port", { origin: `http://${HOST}:3000`, host: `${HOST}:3000` }, false],
    ["an old browser, another port", { origin: `http://${HOST}:3001`, host: `${HOST}:3000` }, true],
    ["an old browser, another origin", { origin: "https://evil.test" }, true],
    ["an old browser, a name that begins like ours", { origin: `https://${HOST}.evil.test` }, true],
    ["an old browser, ours as the user's name", { origin: `https://${HOST}@evil.test` }, true],
    ["a sandboxed frame", { origin: "null" }, true],
    ["no origin at all", { origin: "nonsense" }, true],
    ["a file with an empty host", { origin: "file://", host: "" }, true],
    ["two origins", { origin: `https://${HOST}, https://evil.test` }, true],
  ])("decides the case: %s", (_case, headers, isRefused) => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "post", "PROPFIND"])
      expect([method, refused(method, headers)]).toEqual([method, isRefused]);
    for (const method of ["GET", "HEAD", "OPTIONS"])
      expect([method, refused(method, headers)]).toEqual([method, false]);
  });

  it("accepts the configured origin if a proxy changed the host", () => {
    const headers = { host: "127.0.0.1:3000", origin: "https://millrace.example.com" };
    expect(refused("POST", headers)).toBe(true);
    expect(refused("POST", headers, ["https://millrace.example.com/sub/"])).toBe(false);
    expect(refused("POST", headers, ["https://MILLRACE.example.com:443"])).toBe(false);
    expect(refused("POST", headers, ["http://millrace.example.com", "https://other.example.com", ""])).toBe(
      true,
    );
    expect(refused("POST", { ...headers, origin: "null" }, ["", "nonsense"])).toBe(true);
    expect(
      refused("POST", { ...headers, "sec-fetch-site": "cross-site" }, ["https://millrace.example.com"]),
    ).toBe(true);
  });

  it("refuses another origin where the request names no host", () => {
    expect(attempt).toThrow(expect.objectContaining({ code: "forbidden_origin" }));
  });
});

describe("isCrossSiteNavigation", () => {
  it.each([
    ["cross-site", true],
    ["same-site", true],
    ["same-origin", false],
    ["none", false],
    [undefined, false],
  ])("of a request with Sec-Fetch-Site %s is %s", (site, expected) => {
    expect(isCrossSiteNavigation({ "sec-fetch-site": site })).toBe(expected);
  });
});
