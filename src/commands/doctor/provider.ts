/** The identity provider that people sign in with, asked as serve asks it. */
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
import { runCheck, PROGRAM as GROUP, type CheckResult, checkResultsOf } from "./check-result.ts";

const { ok, error: fault } = checkResultsOf(GROUP);
const what = "identity provider";

/** @returns nothing where there is none to ask, or its variables are missing, which was told */
export async function checkIdentityProvider(
  mode: AuthMode,
  { signOn }: Pick<Settings, "signOn">,
): Promise<CheckResult[]> {
  try {
    if (mode === "oidc") return await lookAtIssuer(oidcSettings(signOn));
    if (mode === "cognito") return await lookAtPool(cognitoSettings(signOn));
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [];
  }
}

function lookAtIssuer({
  issuer,
  clientId,
  clientSecret,
}: ReturnType<typeof oidcSettings>): Promise<CheckResult[]> {
  const mend = `See that MILLRACE_OIDC_ISSUER is right and that this machine reaches ${issuer.href.replace(/\/$/, "")}/.well-known/openid-configuration (firewall, proxy, certificate).`;
  return runCheck({ group: GROUP, what, mend }, async () => {
    // What somebody's claims are called does not matter before anybody comes.
    const ours = { issuer, clientId, clientSecret, groupsClaim: "groups", trustEmails: false };
    try {
      const { code, pkce } = await oidcClient(ours, systemClock).discover();
      const missing = [
        ...(code === false ? ["the authorization code flow (response type code)"] : []),
        ...(pkce === false ? ["PKCE with S256"] : []),
      ];
      if (missing.length > 0)
        return fault(
          what,
          `${issuer.href} answers, but does not offer ${missing.join(" or ")}`,
          "Switch it on at the provider: people sign in by that way alone.",
        );
      return ok(
        what,
        `${issuer.href} answers and names itself so; ${pkce ? "it offers the code flow with PKCE" : "whether it takes PKCE it does not say"}`,
      );
    } catch (error) {
      if (!(error instanceof OidcError)) throw error;
      return error.kind === "not_verified"
        ? fault(
            what,
            `what ${issuer.href} says of itself does not fit: ${error.message}`,
            "Set MILLRACE_OIDC_ISSUER to exactly what stands as issuer in its /.well-known/openid-configuration.",
          )
        : fault(what, `${issuer.href}: ${error.message}`, mend);
    }
  });
}

const Keys = z.object({ keys: z.array(z.object({ kid: z.string() })).min(1) });

function lookAtPool({ userPoolId, poolKeysUrl }: ReturnType<typeof cognitoSettings>): Promise<CheckResult[]> {
  const url = poolKeysUrl?.href ?? CognitoJwtVerifier.parseUserPoolId(userPoolId).jwksUri;
  const mend =
    "See that MILLRACE_COGNITO_USER_POOL_ID is right and that this machine reaches that address, which MILLRACE_COGNITO_KEYS_URL can replace.";
  return runCheck({ group: GROUP, what, mend }, async () => {
    const body = await keyFetcher(systemClock, fetch).fetch(url);
    const keys = Keys.safeParse(parsed(Buffer.from(body).toString("utf8")));
    return keys.success
      ? ok(what, `the user pool's public keys are there (${url})`)
      : fault(what, `${url} answers, but with no public keys`, mend);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
