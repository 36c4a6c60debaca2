/** Checks the identity provider, with the same requests as serve. */
import { CognitoJwtVerifier } from "aws-jwt-verify";
import { z } from "zod";
import type { AuthMode } from "../../../schemas/user.ts";
import { keyFetcher } from "../../auth/key-fetcher.ts";
import { OidcError } from "../../auth/oidc-errors.ts";
import { oidcClient } from "../../auth/oidc.ts";
import { ConfigError } from "../../config/config-file.ts";
import type { Settings } from "../../config/environment.ts";
import { cognitoSettings, oidcSettings } from "../../config/sign-on.ts";
import { systemClock } from "../../core/clock.ts";
import { outgoingFetch } from "../../core/outgoing-agent.ts";
import { runCheck, PROGRAM as GROUP, type CheckResult, checkResultsOf } from "./check-result.ts";

const { ok, error: failed } = checkResultsOf(GROUP);
const check = "identity provider";

/** @returns an empty list if the mode has no provider, or if variables are missing, which checkSignOn reports */
export async function checkIdentityProvider(
  mode: AuthMode,
  { signOn, proxies }: Pick<Settings, "signOn" | "proxies">,
): Promise<CheckResult[]> {
  const fetchUrl = outgoingFetch(proxies);
  try {
    if (mode === "oidc") return await checkIssuer(oidcSettings(signOn), fetchUrl);
    if (mode === "cognito") return await checkUserPool(cognitoSettings(signOn), fetchUrl);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [];
  }
}

function checkIssuer(
  { issuer, clientId }: ReturnType<typeof oidcSettings>,
  fetchUrl: typeof fetch,
): Promise<CheckResult[]> {
  const fix = `Make sure that MILLRACE_OIDC_ISSUER is correct and that this machine can reach ${issuer.href.replace(/\/$/, "")}/.well-known/openid-configuration (firewall, proxy, certificate).`;
  return runCheck({ group: GROUP, check, fix }, async () => {
    // Nobody signs in here, so the secret and the names of claims do not matter.
    const options = {
      issuer,
      clientId,
      clientSecret: () => undefined,
      groupsClaim: "groups",
      trustEmails: false,
    };
    try {
      const { code, pkce } = await oidcClient(options, systemClock, fetchUrl).discover();
      const missing = [
        ...(code === false ? ["the authorization code flow (response type code)"] : []),
        ...(pkce === false ? ["PKCE with S256"] : []),
      ];
      if (missing.length > 0)
        return failed(
          check,
          `${issuer.href} answers, but does not offer ${missing.join(" or ")}`,
          "Enable it at the provider: it is the only way to sign in.",
        );
      return ok(
        check,
        `${issuer.href} answers with the same issuer; ${pkce ? "it offers the code flow with PKCE" : "it does not say whether it supports PKCE"}`,
      );
    } catch (error) {
      if (!(error instanceof OidcError)) throw error;
      return error.kind === "not_verified"
        ? failed(
            check,
            `the configuration of ${issuer.href} does not match: ${error.message}`,
            "Set MILLRACE_OIDC_ISSUER to exactly the issuer in its /.well-known/openid-configuration.",
          )
        : failed(check, `${issuer.href}: ${error.message}`, fix);
    }
  });
}

const Keys = z.object({ keys: z.array(z.object({ kid: z.string() })).min(1) });

function checkUserPool(
  { userPoolId, poolKeysUrl }: ReturnType<typeof cognitoSettings>,
  fetchUrl: typeof fetch,
): Promise<CheckResult[]> {
  const url = poolKeysUrl?.href ?? CognitoJwtVerifier.parseUserPoolId(userPoolId).jwksUri;
  const fix =
    "Make sure that MILLRACE_COGNITO_USER_POOL_ID is correct and that this machine can reach that address. MILLRACE_COGNITO_KEYS_URL can set another one.";
  return runCheck({ group: GROUP, check, fix }, async () => {
    const body = await keyFetcher(systemClock, fetchUrl).fetch(url);
    const keys = Keys.safeParse(parseJson(Buffer.from(body).toString("utf8")));
    return keys.success
      ? ok(check, `the public keys of the user pool can be read (${url})`)
      : failed(check, `${url} answers, but holds no public keys`, fix);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
