/** The authorization server: oidc-provider, reduced to what MCP asks for (OAuth 2.1 without OpenID Connect). */
import { generateKeyPairSync } from "node:crypto";
import {
  type Adapter,
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from "oidc-provider";
import { Scope } from "../../../schemas/actor.ts";
import { newKeyValue } from "../../auth/key-format.ts";
import type { McpResources } from "../../core/mcp-resource.ts";
import { pathPrefixOf } from "../../core/public-url.ts";
import { redirectUriIssue } from "./redirect-uris.ts";
import { placeOf } from "./registration.ts";

/** How long a person has for the decision, in seconds. */
const REQUEST_LIFETIME_S = 15 * 60;
/** How long a code can be exchanged, in seconds. */
export const CODE_LIFETIME_S = 60;

/** The cookie that binds a request to the browser that began it. */
const REQUEST_COOKIE = "millrace_oauth_request";

interface OauthLifetimes {
  /** Of an access token, in seconds. */
  accessS: number;
  /** How long an application may leave its refresh token unused, in seconds. */
  idleS: number;
  /** Of a whole authorization, in seconds. */
  longestS: number;
}

export interface ProviderOptions {
  issuer: string;
  adapter: (model: string) => Adapter;
  /** Signs the cookies. */
  cookieKey: string;
  lifetimes: OauthLifetimes;
  resources: McpResources;
  /** The resource of clients that name none. */
  defaultResource: () => string;
  /** Whether a user exists and is active. */
  isActive(userId: string): Promise<boolean>;
  /** Fetches a client's metadata document, from public addresses only. */
  fetchDocument(url: string): Promise<Response>;
  /** Counts an address that makes this server fetch a document, and says whether it may. */
  mayFetch(ctx: KoaContextWithOIDC | undefined): Promise<boolean>;
  /** Shows an error to the person. @param continueAt the URL at which the application gets the error; undefined for none */
  renderError(ctx: KoaContextWithOIDC, message: string, continueAt?: URL): void;
}

export type OauthProvider = Provider;

export function oauthProvider(options: ProviderOptions): OauthProvider {
  const provider = new Provider(options.issuer, configurationOf(options));
  // The address of the issuer comes from the configuration, in the headers that the mount sets.
  provider.proxy = true;
  provider.use(showEarlyErrors(options));
  useKeyFormat(provider);
  return provider;
}

/**
 * Shows the errors of a request that nobody has decided, with a link to the application. Anybody can register any redirect
 * URI, so a link to Millrace could otherwise lead to any site (RFC 9700, section 4.11.2). Programs on the person's machine
 * get them by a redirect: that is nowhere else to go.
 */
const showEarlyErrors =
  ({ renderError }: ProviderOptions) =>
  async (ctx: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> => {
    await next();
    const location = ctx.response.get("Location");
    // The other redirect of this route, to the consent page, is a path. `oidc` is missing on paths that are not served.
    if ((ctx.oidc as typeof ctx.oidc | undefined)?.route !== "authorization" || !URL.canParse(location))
      return;
    if (placeOf(location).kind === "local") return;
    const url = new URL(location);
    const { error, error_description: description } = Object.fromEntries([
      ...url.searchParams,
      ...new URLSearchParams(url.hash.slice(1)),
    ]);
    for (const name of ["Location", "Content-Length"]) ctx.remove(name);
    ctx.status = 400;
    renderError(ctx, description ?? error ?? "the request is not valid", url);
  };

/** Makes access tokens look like API keys, so that logs mask them and secret scanners find them. */
function useKeyFormat(provider: Provider): void {
  const { prototype } = provider.AccessToken as unknown as { prototype: { generateTokenId(): string } };
  const { generateTokenId } = prototype;
  prototype.generateTokenId = function generateKeyValue() {
    // It also decides the format of the token.
    generateTokenId.call(this);
    return newKeyValue();
  };
}

function configurationOf(options: ProviderOptions): Configuration {
  const { lifetimes, resources } = options;
  const pathPrefix = pathPrefixOf(options.issuer);
  const cookie = { httpOnly: true, sameSite: "lax", signed: true, overwrite: true } as const;
  return {
    adapter: options.adapter,
    // Nothing is signed with it: there are no ID tokens, and access tokens are opaque.
    jwks: { keys: [unusedKey()] },
    enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
    clientAuthMethods: ["none"],
    clientDefaults: {
      token_endpoint_auth_method: "none",
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      id_token_signed_response_alg: "ES256",
    },
    responseTypes: ["code"],
    scopes: [],
    pkce: { required: () => true },
    clientBasedCORS: () => false,
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    routes: {
      authorization: "/oauth/authorize",
      token: "/oauth/token",
      revocation: "/oauth/revoke",
      jwks: "/oauth/jwks",
    },
    cookies: {
      names: { session: "millrace_oauth", interaction: REQUEST_COOKIE, resume: "millrace_oauth_resume" },
      // The decision is read and sent at this path.
      short: { ...cookie, path: `${pathPrefix}/session/authorization` },
      long: { ...cookie, path: `${pathPrefix}/oauth` },
      keys: [options.cookieKey],
    },
    ttl: {
      Interaction: REQUEST_LIFETIME_S,
      Session: REQUEST_LIFETIME_S,
      AuthorizationCode: CODE_LIFETIME_S,
      AccessToken: lifetimes.accessS,
      Grant: lifetimes.longestS,
      RefreshToken: (ctx) => Math.min(lifetimes.idleS, ctx.oidc.entities.Grant?.remainingTTL ?? Infinity),
    },
    interactions: {
      policy: askEachTime(),
      url: (_ctx, { uid }) => `${pathPrefix}/ui/authorize?request=${uid}`,
    },
    findAccount: async (_ctx, id) =>
      (await options.isActive(id)) ? { accountId: id, claims: () => ({ sub: id }) } : undefined,
    fetch: (url) => options.fetchDocument(url instanceof Request ? url.url : new URL(url).href),
    renderError: (ctx, out) => options.renderError(ctx, out.error_description ?? out.error),
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      clientIdMetadataDocument: {
        enabled: true,
        ack: "draft-02",
        allowFetch: (ctx) => options.mayFetch(ctx),
        allowClient: (_ctx, client) =>
          client.redirectUris?.every((uri) => redirectUriIssue(uri) === undefined) === true,
        cacheDuration: { min: 60, max: 3_600 },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => options.defaultResource(),
        useGrantedResource: () => true,
        getResourceServerInfo(_ctx, resource) {
          if (!resources.isKnown(resource))
            throw new errors.InvalidTarget(
              "resource is not the MCP server of this instance; its operator may have to set MILLRACE_MCP_URL",
            );
          return {
            scope: Scope.options.join(" "),
            audience: resource,
            accessTokenFormat: "opaque",
            accessTokenTTL: lifetimes.accessS,
          };
        },
      },
    },
  };
}

/** A person decides each request. A decision for another request, or of another person, is never taken over. */
function askEachTime(): interactionPolicy.DefaultPolicy {
  const { base, Check, Prompt } = interactionPolicy;
  const policy = base();
  policy.clear();
  policy.add(new Prompt({ name: "login", requestable: true }));
  policy.add(
    new Prompt(
      { name: "consent", requestable: true },
      new Check(
        "undecided",
        "a person has to decide each request",
        (ctx) => ctx.oidc.result?.consent === undefined,
      ),
    ),
  );
  return policy;
}

const unusedKey = () => ({
  ...generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }),
  use: "sig",
  alg: "ES256",
});
