/**
 * A client of one OpenID Connect provider (OpenID Connect Core 1.0): the authorization code flow with PKCE (RFC 7636), token
 * refresh, and the logout of the provider.
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
/** How long the provider's metadata are used, in milliseconds; longer while the provider does not answer. */
const METADATA_MS = HOUR;
/** Interval between attempts to fetch the metadata again, in milliseconds. */
const METADATA_RETRY_MS = 30 * SECOND;
const MAX_GROUPS = 1_000;
/** Maximum length of a group's name, in characters. */
const MAX_GROUP_LENGTH = 256;
/** Maximum length of an id_token_hint, in characters. Servers accept URLs of 8 KiB. */
const MAX_HINT_LENGTH = 6_000;

export interface OidcOptions {
  issuer: URL;
  clientId: string;
  /** The current secret, which can change; undefined for a public client. */
  clientSecret(): string | undefined;
  /** The claim with a person's groups. */
  groupsClaim: string;
  /** Whether an address counts as verified if the provider sends no email_verified claim. */
  trustEmails: boolean;
}

/** What is needed again when the browser comes back; a secret between it and this server. */
interface Flow {
  state: string;
  nonce: string;
  verifier: string;
}

/** The tokens of a signed-in person, for refreshing claims and signing out. */
export interface Grant {
  subject: string;
  idToken: string;
  /** Undefined if the provider issued none. */
  refreshToken?: string | undefined;
}

export interface SignOnResult {
  identity: Identity;
  grant: Grant;
}

/** Which required features a provider offers; undefined if it does not say. */
interface Offered {
  /** The authorization code flow. */
  code: boolean | undefined;
  /** PKCE with S256. */
  pkce: boolean | undefined;
}

/** All methods throw OidcError. */
export interface OidcClient {
  /** Fetches the provider's metadata, unless they are cached, and returns the features that it offers. */
  discover(): Promise<Offered>;
  /** Returns the URL to sign in at, and what to keep until the browser comes back. */
  startAuthorization(redirectUri: string): Promise<{ url: URL; flow: Flow }>;
  /** Exchanges the authorization code for the person's identity. @param at the redirect URI with its query */
  exchangeCode(at: URL, flow: Flow): Promise<SignOnResult>;
  /** Fetches the person's current claims. If two callers use the same grant, one of them may fail. */
  refresh(grant: Grant & { refreshToken: string }): Promise<SignOnResult>;
  /** Returns the URL to sign out of the provider (RP-Initiated Logout 1.0); undefined if it has none. */
  logoutUrl(grant: Grant | undefined, backTo: string): Promise<URL | undefined>;
}

type Claims = Readonly<Record<string, unknown>>;

/** @param fetchUrl the global `fetch`, or one that uses a proxy */
export function oidcClient(options: OidcOptions, clock: Clock, fetchUrl: typeof fetch = fetch): OidcClient {
  const configuration = metadata(options, clock, providerFetch(fetchUrl));

  const withConfiguration = async <T>(work: (config: oidc.Configuration) => Promise<T> | T): Promise<T> => {
    try {
      return await work(await configuration());
    } catch (error) {
      throw toOidcError(error);
    }
  };

  /** @param claims of the verified ID token that came with the tokens; undefined if there was none */
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
    const usesUserInfo = !isComplete && userinfo_endpoint !== undefined;
    const userInfo = usesUserInfo
      ? [(await oidc.fetchUserInfo(config, tokens.access_token, grant.subject)) as Claims]
      : [];
    const sources = [...userInfo, claims ?? earlierClaims(payloadOf(grant.idToken), usesUserInfo)];
    return { identity: identityOf(issuer, grant.subject, sources, options), grant };
  }

  /** Claims of an earlier ID token; without groups after a userinfo request, where many providers omit an empty claim. */
  function earlierClaims(claims: Claims, usesUserInfo: boolean): Claims {
    const { [options.groupsClaim]: _, ...others } = claims;
    return usesUserInfo ? others : claims;
  }

  return {
    discover: () =>
      withConfiguration((config) => {
        const server = config.serverMetadata();
        return {
          code: server.response_types_supported?.includes("code"),
          pkce: server.code_challenge_methods_supported?.includes("S256"),
        };
      }),

    startAuthorization: (redirectUri) =>
      withConfiguration(async (config) => {
        const flow = {
          state: oidc.randomState(),
          nonce: oidc.randomNonce(),
          verifier: oidc.randomPKCECodeVerifier(),
        };
        // Providers that know this scope need it for refresh tokens; others refuse unknown scopes.
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
      withConfiguration(async (config) => {
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
      withConfiguration(async (config) => {
        const tokens = await oidc.refreshTokenGrant(config, grant.refreshToken);
        // OpenID Connect Core 1.0, section 12.2: there may be no new one.
        const claims = tokens.claims();
        if (claims !== undefined && claims.sub !== grant.subject)
          throw new OidcError("not_verified", "the refreshed token has another sub");
        return signedOn(config, tokens, claims, {
          subject: grant.subject,
          idToken: tokens.id_token ?? grant.idToken,
          refreshToken: tokens.refresh_token ?? grant.refreshToken,
        });
      }),

    logoutUrl: (grant, backTo) =>
      withConfiguration((config) => {
        if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
        const hint = grant?.idToken ?? "";
        return oidc.buildEndSessionUrl(config, {
          post_logout_redirect_uri: backTo,
          ...(hint !== "" && hint.length <= MAX_HINT_LENGTH && { id_token_hint: hint }),
        });
      }),
  };
}

/** Fetches the provider's metadata on demand, one request at a time, and caches them. */
function metadata(
  { issuer, clientId, clientSecret }: OidcOptions,
  clock: Clock,
  fetchFromProvider: oidc.CustomFetch,
): () => Promise<oidc.Configuration> {
  let cached: { server: oidc.ServerMetadata; until: number } | undefined;
  let pending: Promise<oidc.ServerMetadata> | undefined;
  let made:
    { server: oidc.ServerMetadata; secret: string | undefined; config: oidc.Configuration } | undefined;
  const isInsecure = issuer.protocol === "http:";

  async function fetchMetadata(): Promise<oidc.ServerMetadata> {
    const discovered = await oidc.discovery(issuer, clientId, undefined, oidc.None(), {
      timeout: TIMEOUT_S,
      [oidc.customFetch]: fetchFromProvider,
      // The settings allow http only for this machine.
      execute: isInsecure ? [oidc.allowInsecureRequests] : [],
    });
    const server = discovered.serverMetadata();
    // openid-client accepts the issuer of any tenant for a multi-tenant one, which would let people of all tenants sign in.
    if (new URL(server.issuer).href !== issuer.href)
      throw new OidcError(
        "not_verified",
        "the provider's metadata have another issuer than the configured one",
      );
    return server;
  }

  function configurationOf(server: oidc.ServerMetadata, secret: string | undefined): oidc.Configuration {
    const config = new oidc.Configuration(
      server,
      clientId,
      { [oidc.clockTolerance]: CLOCK_TOLERANCE_S },
      authentication(secret, server.token_endpoint_auth_methods_supported),
    );
    config.timeout = TIMEOUT_S;
    config[oidc.customFetch] = fetchFromProvider;
    if (isInsecure) oidc.allowInsecureRequests(config);
    // By default openid-client trusts the connection and does not verify the signature of ID tokens.
    oidc.enableNonRepudiationChecks(config);
    return config;
  }

  async function serverMetadata(): Promise<oidc.ServerMetadata> {
    if (cached !== undefined && clock.now() < cached.until) return cached.server;
    pending ??= fetchMetadata().finally(() => (pending = undefined));
    try {
      const server = await pending;
      cached = { server, until: clock.now() + METADATA_MS };
    } catch (error) {
      if (cached === undefined) throw error;
      cached.until = clock.now() + METADATA_RETRY_MS;
    }
    return cached.server;
  }

  return async () => {
    const server = await serverMetadata();
    const secret = clientSecret();
    if (made?.server !== server || made.secret !== secret)
      made = { server, secret, config: configurationOf(server, secret) };
    return made.config;
  };
}

/** The client authentication that the provider supports; the default is Basic (OpenID Connect Discovery 1.0, section 3). */
function authentication(secret: string | undefined, methods: readonly string[] = []): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  const post = methods.includes("client_secret_post") && !methods.includes("client_secret_basic");
  return post ? oidc.ClientSecretPost(secret) : oidc.ClientSecretBasic(secret);
}

const providerFetch =
  (fetchUrl: typeof fetch): oidc.CustomFetch =>
  async (url, options) => {
    // The types of openid-client and of Node differ in details that do not matter here.
    const init: RequestInit = options as object;
    const response = await boundedFetch(fetchUrl, url, init, {
      maxBytes: MAX_RESPONSE_BYTES,
      tooLarge: () =>
        new OidcError("provider_unavailable", `the response is larger than ${MAX_RESPONSE_BYTES} bytes`),
    });
    // Read here, because openid-client would report a body that is too large as invalid JSON.
    const body = await response.text();
    const { status, statusText, headers } = response;
    // Only the token endpoint gets POST requests.
    const refusal = options.method === "POST" ? clientAuthenticationError(status, body) : undefined;
    if (refusal !== undefined) throw refusal;
    return new Response(body === "" ? null : body, { status, statusText, headers });
  };

/** The claims of a token whose signature was verified when it was received. */
const payloadOf = (token: string): Claims =>
  JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString("utf8")) as Claims;

/** @param sources claims about this person, the newest first */
export function identityOf(
  issuer: string,
  subject: string,
  sources: readonly Claims[],
  { groupsClaim, trustEmails }: Pick<OidcOptions, "groupsClaim" | "trustEmails">,
): Identity {
  // The address and its verification must come from the same source.
  const withAddress = sources.filter((claims) => typeof claims["email"] === "string");
  const source = withAddress.find((claims) => "email_verified" in claims) ?? withAddress[0];
  const email = Email.safeParse(source?.["email"]);
  const verified = source?.["email_verified"];
  const groups = sources.find((claims) => Object.hasOwn(claims, groupsClaim))?.[groupsClaim];
  return {
    issuer,
    subject,
    email: email.success ? email.data : null,
    // Some providers send it as text.
    emailVerified: verified === true || verified === "true" || (trustEmails && verified === undefined),
    groups: (Array.isArray(groups) ? groups.slice(0, MAX_GROUPS) : [groups]).filter(
      (group): group is string => typeof group === "string" && group.length <= MAX_GROUP_LENGTH,
    ),
  };
}
