/** Opens the authorization server, through which applications connect without an API key. */
import type { Config } from "../../schemas/config.ts";
import type { Throttle } from "../auth/throttle.ts";
import { sealingKey } from "../auth/sealing.ts";
import { NO_ACCESS } from "../core/access.ts";
import { iso, SECOND } from "../core/clock.ts";
import { durationMs } from "../core/duration.ts";
import { isLoopback } from "../core/hosts.ts";
import type { HttpPolicy } from "../core/http-policy.ts";
import { newRequestId } from "../core/ids.ts";
import { mcpResources } from "../core/mcp-resource.ts";
import { oauthStateStore } from "../store/oauth-states.ts";
import { getOrCreateKey } from "../store/settings.ts";
import type { OriginRules } from "../surfaces/cross-origin.ts";
import type { Services } from "../surfaces/invoke.ts";
import type { AuthorizationServer } from "../surfaces/oauth/server.ts";
import type { Settings } from "../config/environment.ts";
import type { Instance } from "./instance.ts";
import type { Setup } from "./services.ts";

/** Maximum size of a client's metadata document, in bytes. */
const MAX_DOCUMENT_BYTES = 16 * 1024;
/** Maximum time to fetch one, in milliseconds. */
const DOCUMENT_TIMEOUT_MS = 5 * SECOND;
/** Redirects are returned as they are, because a metadata document must be at the address of its client. */
const REDIRECTS = [301, 302, 303, 307, 308];

/** Metadata documents are fetched for anybody, so the private hosts that workflows may call are out of reach for them. */
const PUBLIC_HOSTS_ONLY: HttpPolicy = { public: "any", publicHosts: [], privateHosts: [] };

/** Whether applications can connect: both servers over https, or on this machine (OAuth 2.1, section 1.5). */
export const allowsOauth = (
  { authentication }: Pick<Config, "authentication">,
  { baseUrl, mcpUrl }: Pick<Settings, "baseUrl" | "mcpUrl">,
): boolean =>
  authentication.oauth.enabled &&
  [baseUrl, mcpUrl].every(
    (url) => url === undefined || url.protocol === "https:" || isLoopback(url.hostname),
  );

/** Which web pages may call the endpoints of MCP clients. */
export const originRules = (
  { authentication }: Pick<Config, "authentication">,
  { baseUrl, mcpUrl }: Pick<Settings, "baseUrl" | "mcpUrl">,
): OriginRules => ({
  hostnames: ["localhost", "127.0.0.1", "[::1]"].concat(
    [baseUrl, mcpUrl].flatMap((url) => (url === undefined ? [] : [url.hostname])),
  ),
  origins: authentication.oauth.origins,
});

const toSeconds = (duration: string): number => Math.floor(durationMs(duration) / SECOND);

/** @param signIn.mcpUrl the URL of the MCP server for a host name, without the path of a transport */
export async function openOauth(
  instance: Instance,
  setup: Setup,
  services: Services,
  signIn: { throttle: Throttle; pathPrefix: string; mcpUrl(hostname: string, secure: boolean): string },
  baseUrl: () => string,
): Promise<AuthorizationServer | undefined> {
  const { settings, config, clock } = setup;
  if (!allowsOauth(config, settings)) return undefined;
  const [{ authorizationServer }, { oauthAdapter }] = await Promise.all([
    import("../surfaces/oauth/server.ts"),
    import("../surfaces/oauth/adapter.ts"),
  ]);
  const { access, idle, longest, registration } = config.authentication.oauth;
  const states = oauthStateStore(instance.store, clock);
  return authorizationServer({
    issuer: baseUrl,
    pathPrefix: signIn.pathPrefix,
    adapter: oauthAdapter({
      states,
      keys: instance.keys,
      clock,
      revoke: (id) => revoke(instance, setup, id),
    }),
    cookieKey: sealingKey(
      await getOrCreateKey(instance.store, "cursor_key"),
      "cookies of authorizations",
    ).toString("base64url"),
    lifetimes: { accessS: toSeconds(access), idleS: toSeconds(idle), longestS: toSeconds(longest) },
    registration,
    originRules: originRules(config, settings),
    resources: mcpResources(settings),
    defaultResource() {
      const { hostname, protocol } = new URL(baseUrl());
      return `${signIn.mcpUrl(hostname, protocol === "https:")}/mcp`;
    },
    isActive: async (id) => (await instance.read.users.find(id))?.status === "active",
    async fetchDocument(url) {
      const answer = await services.engine.configured.http.send(
        {
          method: "GET",
          url,
          headers: { accept: "application/json" },
          maxBytes: MAX_DOCUMENT_BYTES,
          acceptStatus: REDIRECTS,
          policy: PUBLIC_HOSTS_ONLY,
        },
        { owner: "oauth", signal: AbortSignal.timeout(DOCUMENT_TIMEOUT_MS) },
      );
      const caching = answer.headers["cache-control"];
      // Some statuses have no body.
      return new Response(answer.body === null ? null : JSON.stringify(answer.body), {
        status: answer.status,
        headers: typeof caching === "string" ? { "Cache-Control": caching } : {},
      });
    },
    throttle: signIn.throttle,
    log: services.log,
  });
}

/** Revokes the access of an application on its own request, or because a code or token was used twice. */
async function revoke({ keys, write }: Instance, { clock }: Setup, id: string): Promise<void> {
  const key = await keys.find(id);
  if (key === undefined || key.application === null || key.revokedAt !== null) return;
  const { name, owner, lineage, application } = key;
  const principal = {
    kind: "key",
    keyId: id,
    keyName: name,
    owner,
    lineage,
    scopes: new Set<never>(),
    access: NO_ACCESS,
  } as const;
  await write(
    {
      operation: "revoke_api_key",
      actor: { principal, client: { surface: "rest", name: application.host } },
      requestId: newRequestId(),
    },
    async (tx) => {
      if (await tx.apiKeys.revoke(id, iso(clock.now()))) await tx.recordAudit(id);
    },
  );
}
