/**
 * OpenID Connect with one provider (OpenID Connect Core 1.0): the authorization code flow with PKCE (RFC 7636), what the
 * provider says of somebody, saying it anew, and its own logout.
 */
import * as oidc from "openid-client";
import { Email } from "../../schemas/user.ts";
import { boundedFetch } from "../core/bounded-fetch.ts";
import { type Clock, HOUR, SECOND } from "../core/clock.ts";
import { toOidcError, OidcError, clientAuthenticationError } from "./oidc-errors.ts";
import type { Identity } from "./sign-on.ts";

const TIMEOUT_S = 10;
const CLOCK_TOLERANCE_S = 30;
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** So old may become what the provider has said of itself; while it is away it goes on counting. */
const METADATA_MS = HOUR;
const METADATA_RETRY_MS = 30 * SECOND;
const MOST_GROUPS = 1_000;
const LONGEST_GROUP = 256;
/** Servers take URLs of 8 KiB. */
const LONGEST_HINT = 6_000;

export interface OidcOptions {
  issuer: URL;
  clientId: string;
  /** Undefined for a public client. */
  clientSecret: string | undefined;
  /** The claim that names somebody's groups. */
  groupsClaim: string;
  /** Whether an address counts as verified where the provider does not say; what it denies never does. */
  trustEmails: boolean;
}

/** What must be known again when the browser comes back: a secret of it and us. */
interface Flow {
  state: string;
  nonce: string;
  verifier: string;
}

/** What the provider has given with somebody, to ask it again and to sign them out. */
export interface Grant {
  subject: string;
  idToken: string;
  /** Undefined where it gave none. */
  refreshToken?: string | undefined;
}

export interface SignOnResult {
  identity: Identity;
  grant: Grant;
}

/** What of the way that people take a provider offers; undefined where it does not say. */
interface Offered {
  /** The authorization code flow. */
  code: boolean | undefined;
  /** PKCE with S256. */
  pkce: boolean | undefined;
}

/** Every way in throws OidcFault when it comes to nothing. */
export interface OidcClient {
  /** Asks the provider about itself, if that is not known yet, and gives what it says that it offers. */
  discover(): Promise<Offered>;
  /** Where a browser goes to sign in, and what to keep of it. */
  startAuthorization(redirectUri: string): Promise<{ url: URL; flow: Flow }>;
  /** Who came back. @param at the redirect URI with the query it was called with */
  exchangeCode(at: URL, flow: Flow): Promise<SignOnResult>;
  /** What the provider says by now. Of two that ask with the same grant, one may lose it. */
  refresh(grant: Grant & { refreshToken: string }): Promise<SignOnResult>;
  /** Where a browser goes to sign out of the provider too (RP-Initiated Logout 1.0); undefined where it has no such page. */
  logoutUrl(grant: Grant | undefined, backTo: string): Promise<URL | undefined>;
}

type Claims = Readonly<Record<string, unknown>>;

export function oidcClient(options: OidcOptions, clock: Clock): OidcClient {
  const configuration = metadata(options, clock);

  const told = async <T>(work: (config: oidc.Configuration) => Promise<T> | T): Promise<T> => {
    try {
      return await work(await configuration());
    } catch (error) {
      throw toOidcError(error);
    }
  };

  /** @param claims of the ID token that came with them: its signature, issuer, audience and times are right; else undefined */
  async function signedOn(
    config: oidc.Configuration,
    tokens: oidc.TokenEndpointResponse,
    claims: Claims | undefined,
    grant: Grant,
  ): Promise<SignOnResult> {
    const isComplete =
      claims !== undefined &&
      ["email", "email_verified", options.groupsClaim].every((name) => name in claims);
    const { issuer, userinfo_endpoint } = config.serverMetadata();
    const isAsked = !isComplete && userinfo_endpoint !== undefined;
    const asked = isAsked
      ? [(await oidc.fetchUserInfo(config, tokens.access_token, grant.subject)) as Claims]
      : [];
    const sources = [...asked, claims ?? before(payloadOf(grant.idToken), isAsked)];
    return { identity: identityOf(issuer, grant.subject, sources, options), grant };
  }

  /** What an earlier ID token says. Where it was asked anew, no groups: many leave the claim out for who is in none any more. */
  function before(claims: Claims, isAsked: boolean): Claims {
    const { [options.groupsClaim]: _, ...others } = claims;
    return isAsked ? others : claims;
  }

  return {
    discover: () =>
      told((config) => {
        const server = config.serverMetadata();
        return {
          code: server.response_types_supported?.includes("code"),
          pkce: server.code_challenge_methods_supported?.includes("S256"),
        };
      }),

    startAuthorization: (redirectUri) =>
      told(async (config) => {
        const flow = {
          state: oidc.randomState(),
          nonce: oidc.randomNonce(),
          verifier: oidc.randomPKCECodeVerifier(),
        };
        // Where it is known there are no refresh tokens without it; others refuse what they do not know.
        const offline = config.serverMetadata().scopes_supported?.includes("offline_access") ?? false;
        const url = oidc.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: `openid email profile${offline ? " offline_access" : ""}`,
          state: flow.state,
          nonce: flow.nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(flow.verifier),
          code_challenge_method: "S256",
        });
        return { url, flow };
      }),

    exchangeCode: (at, { state, nonce, verifier }) =>
      told(async (config) => {
        const tokens = await oidc.authorizationCodeGrant(config, at, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims()!;
        const { id_token: idToken, refresh_token: refreshToken } = tokens;
        return signedOn(config, tokens, claims, { subject: claims.sub, idToken: idToken!, refreshToken });
      }),

    refresh: (grant) =>
      told(async (config) => {
        const tokens = await oidc.refreshTokenGrant(config, grant.refreshToken);
        // OpenID Connect Core 1.0, section 12.2: there may be no new one.
        const claims = tokens.claims();
        if (claims !== undefined && claims.sub !== grant.subject)
          throw new OidcError("not_verified", "another sub than before");
        return signedOn(config, tokens, claims, {
          subject: grant.subject,
          idToken: tokens.id_token ?? grant.idToken,
          refreshToken: tokens.refresh_token ?? grant.refreshToken,
        });
      }),

    logoutUrl: (grant, backTo) =>
      told((config) => {
        if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
        const hint = grant?.idToken ?? "";
        return oidc.buildEndSessionUrl(config, {
          post_logout_redirect_uri: backTo,
          ...(hint !== "" && hint.length <= LONGEST_HINT && { id_token_hint: hint }),
        });
      }),
  };
}

/** What the provider says of itself: asked for when it is needed, by one at a time, and anew from time to time. */
function metadata(
  { issuer, clientId, clientSecret }: OidcOptions,
  clock: Clock,
): () => Promise<oidc.Configuration> {
  let known: { config: oidc.Configuration; until: number } | undefined;
  let asking: Promise<oidc.Configuration> | undefined;
  const isInsecure = issuer.protocol === "http:";

  async function ask(): Promise<oidc.Configuration> {
    const found = await oidc.discovery(issuer, clientId, undefined, oidc.None(), {
      timeout: TIMEOUT_S,
      [oidc.customFetch]: fetchFromProvider,
      // Only ever of this machine itself: the settings let no other through.
      execute: isInsecure ? [oidc.allowInsecureRequests] : [],
    });
    const server = found.serverMetadata();
    // The library lets a tenant's issuer pass for one of all tenants: then everybody of all of them could come in.
    if (new URL(server.issuer).href !== issuer.href)
      throw new OidcError(
        "not_verified",
        "the provider's metadata name another issuer than the configured one",
      );
    const config = new oidc.Configuration(
      server,
      clientId,
      { [oidc.clockTolerance]: CLOCK_TOLERANCE_S },
      authentication(clientSecret, server.token_endpoint_auth_methods_supported),
    );
    config.timeout = TIMEOUT_S;
    config[oidc.customFetch] = fetchFromProvider;
    if (isInsecure) oidc.allowInsecureRequests(config);
    // The library trusts the connection that an ID token came by; its signature says the same of the provider's keys.
    oidc.enableNonRepudiationChecks(config);
    return config;
  }

  return async () => {
    if (known !== undefined && clock.now() < known.until) return known.config;
    asking ??= ask().finally(() => (asking = undefined));
    try {
      const config = await asking;
      known = { config, until: clock.now() + METADATA_MS };
    } catch (error) {
      if (known === undefined) throw error;
      known.until = clock.now() + METADATA_RETRY_MS;
    }
    return known.config;
  };
}

/** As the provider likes it; what says nothing takes the first (OpenID Connect Discovery 1.0, section 3). */
function authentication(secret: string | undefined, methods: readonly string[] = []): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  const post = methods.includes("client_secret_post") && !methods.includes("client_secret_basic");
  return post ? oidc.ClientSecretPost(secret) : oidc.ClientSecretBasic(secret);
}

const fetchFromProvider: oidc.CustomFetch = async (url, options) => {
  // The types of openid-client and of Node differ in details that do not matter here.
  const init: RequestInit = options as object;
  const response = await boundedFetch(fetch, url, init, {
    maxBytes: MAX_RESPONSE_BYTES,
    tooLarge: () =>
      new OidcError("provider_unavailable", `the response is larger than ${MAX_RESPONSE_BYTES} bytes`),
  });
  // Only the token endpoint gets POST requests.
  if (options.method !== "POST") return response;
  const refusal = clientAuthenticationError(response.status, await response.clone().text());
  if (refusal !== undefined) throw refusal;
  return response;
};

/** Of a token whose signature was looked at when it came. */
const payloadOf = (token: string): Claims =>
  JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString("utf8")) as Claims;

/** @param sources what it has said of this person, the newest first */
export function identityOf(
  issuer: string,
  subject: string,
  sources: readonly Claims[],
  { groupsClaim, trustEmails }: Pick<OidcOptions, "groupsClaim" | "trustEmails">,
): Identity {
  // An address and whether it is theirs belong together: they are never taken from two of them.
  const withAddress = sources.filter((claims) => typeof claims["email"] === "string");
  const vouching = withAddress.find((claims) => "email_verified" in claims) ?? withAddress[0];
  const email = Email.safeParse(vouching?.["email"]);
  const verified = vouching?.["email_verified"];
  const groups = sources.find((claims) => Object.hasOwn(claims, groupsClaim))?.[groupsClaim];
  return {
    issuer,
    subject,
    email: email.success ? email.data : null,
    // Some send it as text.
    emailVerified: verified === true || verified === "true" || (trustEmails && verified === undefined),
    groups: (Array.isArray(groups) ? groups.slice(0, MOST_GROUPS) : [groups]).filter(
      (group): group is string => typeof group === "string" && group.length <= LONGEST_GROUP,
    ),
  };
}
