import { describe, expect, it } from "vitest";
import * as oidc from "openid-client";
import { clientAuthenticationError, OidcError, toOidcError } from "../../src/auth/oidc-errors.ts";
import { ProxyError } from "../../src/core/proxy-tunnel.ts";

const bodyError = (error: string, status: number): unknown =>
  new oidc.ResponseBodyError("server responded with an error", {
    cause: { error },
    response: new Response(null, { status }),
  });

const authorizationError = (error: string): unknown =>
  new oidc.AuthorizationResponseError("authorization response from the server is an error", {
    cause: new URLSearchParams({ error }),
  });

const clientError = (code: string, message = "no", cause?: unknown): unknown =>
  Object.assign(Object.create(oidc.ClientError.prototype), { code, message, cause, name: "ClientError" });

const clientErrorWithoutCode = (): unknown =>
  Object.assign(Object.create(oidc.ClientError.prototype), { message: "no", name: "ClientError" });

describe("an error of a provider", () => {
  it.each([
    [authorizationError("access_denied"), "denied"],
    [authorizationError("server_error"), "provider_unavailable"],
    [authorizationError("temporarily_unavailable"), "provider_unavailable"],
    [authorizationError("unauthorized_client"), "provider_refused"],
    [bodyError("invalid_grant", 400), "code_expired"],
    [bodyError("invalid_grant", 500), "provider_unavailable"],
    [bodyError("invalid_client", 400), "provider_refused"],
    [bodyError("invalid_client", 499), "provider_refused"],
    [bodyError("temporarily_unavailable", 400), "provider_unavailable"],
    [clientError("OAUTH_TIMEOUT"), "provider_unavailable"],
    [clientError("OAUTH_RESPONSE_IS_NOT_JSON"), "provider_unavailable"],
    [clientError("OAUTH_JWT_CLAIM_COMPARISON_FAILED"), "not_verified"],
    [Object.create(oidc.WWWAuthenticateChallengeError.prototype), "provider_refused"],
    [clientErrorWithoutCode(), "provider_unavailable"],
    [Object.assign(new Error("no"), { code: "OAUTH_JWT_CLAIM_COMPARISON_FAILED" }), "provider_unavailable"],
    [new TypeError("fetch failed"), "provider_unavailable"],
  ])("%# is reported by what can be done about it: %s", (thrown, kind) => {
    expect(toOidcError(thrown)).toMatchObject({ name: "OidcError", kind });
  });

  it("keeps what this server has found, also when the library wraps it", () => {
    const own = new OidcError("not_verified", "another issuer");
    expect(toOidcError(own)).toBe(own);
    expect(toOidcError(clientError("OAUTH_TIMEOUT", "wrapped", own))).toBe(own);
  });

  it("of the outgoing proxy says so", () => {
    const cause = new ProxyError("407", "the outgoing proxy refused the credentials", {
      fix: "",
      transient: false,
    });
    expect(toOidcError(new TypeError("fetch failed", { cause }))).toMatchObject({
      kind: "provider_unavailable",
      message: "the outgoing proxy refused the credentials",
    });
  });

  it("is logged with its codes along the causes, five of them at most, and nothing unprintable", () => {
    const chain = ["ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX"].reduceRight<unknown>(
      (cause, code) => Object.assign(new Error("secret"), { code, cause }),
      undefined,
    );
    expect(toOidcError(chain).message).toBe("ONE: TWO: THREE: FOUR: FIVE");
    expect(toOidcError(new Error("secret")).message).toBe("no usable response");
    expect(toOidcError(Object.assign(new Error("x"), { code: `a\nb\u0000${"c".repeat(200)}` })).message).toBe(
      `a?b?${"c".repeat(116)}`,
    );
    expect(toOidcError(bodyError("invalid_client", 400)).message).toContain("invalid_client");
    const libraryError = Object.assign(new Error("unexpected iss"), { name: "OperationProcessingError" });
    expect(toOidcError(libraryError).message).toBe("unexpected iss");
    expect(toOidcError(clientError("OAUTH_TIMEOUT", "timed out")).message).toBe("timed out: OAUTH_TIMEOUT");
    expect(toOidcError(Object.assign(new Error("secret"), { error: 7 })).message).toBe("no usable response");
  });
});

describe("a token endpoint that refuses the client", () => {
  it("answers 401 without the error of an expired code", () => {
    expect(clientAuthenticationError(401, "{}")).toMatchObject({ kind: "provider_refused" });
    expect(clientAuthenticationError(400, "{}")).toBeUndefined();
    expect(clientAuthenticationError(401, '{"error":"invalid_grant"}')).toBeUndefined();
  });
});
