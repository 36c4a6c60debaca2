/** Opens the sign-in of people, by the --auth-mode of `serve`. */
import { addressMatcher } from "../auth/network.ts";
import { openPasswords } from "../auth/passwords.ts";
import { openSessions } from "../auth/sessions.ts";
import type { SignOnPolicy } from "../auth/sign-on.ts";
import { throttle } from "../auth/throttle.ts";
import { cognitoSettings, cognitoWarnings, OIDC_CLIENT_SECRET, oidcSettings } from "../config/sign-on.ts";
import { SECOND } from "../core/clock.ts";
import { durationMs } from "../core/duration.ts";
import { parseHost, reachableHost } from "../core/hosts.ts";
import { mcpBase } from "../core/mcp-resource.ts";
import { sharedFor } from "../core/once-per.ts";
import { checkMcpUrl, missingMcpUrl } from "../core/public-mcp.ts";
import { pathPrefixOf, webBase } from "../core/public-url.ts";
import { outgoingFetch } from "../core/outgoing-agent.ts";
import { rateLimitCounter } from "../store/rate-limit-counts.ts";
import type { Store } from "../store/store.ts";
import { sessionStore } from "../store/sessions.ts";
import { getOrCreateKey, getRestoredAt } from "../store/settings.ts";
import type { Services } from "../surfaces/invoke.ts";
import type { SignOnProvider, SignInServices } from "../surfaces/session/endpoint.ts";
import { VERSION } from "./build.ts";
import type { Instance } from "./instance.ts";
import { openOauth } from "./oauth.ts";
import type { Setup } from "./services.ts";

/** How long the result of a check of the URL of the MCP server is shown again, in milliseconds. */
const MCP_CHECK_MS = 5 * SECOND;

/** Opens sessions, passwords, rate limits and the identity provider. */
export async function openSignIn(
  instance: Instance,
  setup: Setup,
  host: string,
  services: Services,
  baseUrl: () => string,
): Promise<SignInServices> {
  const { settings, config, clock, authMode = "built-in", mcpPort = 8000 } = setup;
  const { passwords, resetDelayMs = 3 * SECOND } = setup;
  const { store, read } = instance;
  const { idle, longest } = config.authentication.sessions;
  const limits = { idleMs: durationMs(idle), maxAgeMs: durationMs(longest) };
  const signIn = {
    sessions: openSessions(sessionStore(store), read.projects, clock, limits),
    limits,
    throttle: throttle(rateLimitCounter(store), clock),
    https: settings.baseUrl === undefined ? undefined : settings.baseUrl.protocol === "https:",
    pathPrefix: pathPrefixOf(settings.baseUrl && webBase(settings.baseUrl)),
  };
  // Behind a proxy it has an agent, whose connections all checks share.
  const send = outgoingFetch(settings.proxies);
  const mcpUrl = (hostname: string, secure: boolean): string => {
    // Some people include the path of a transport in the URL.
    if (settings.mcpUrl !== undefined) return mcpBase(settings.mcpUrl);
    const reach = (name: string) => `${secure ? "https" : "http"}://${name}:${mcpPort}`;
    if (settings.baseUrl !== undefined) return reach(settings.baseUrl.hostname);
    // Behind a proxy it is a header that can contain anything.
    return reach(parseHost(hostname) === undefined ? reachableHost(host) : hostname);
  };
  return {
    mode: authMode,
    oauth: await openOauth(instance, setup, services, { ...signIn, mcpUrl }, baseUrl),
    provider: await openProvider(setup, { store, services, signIn, host, baseUrl }),
    ...signIn,
    passwords: openPasswords(passwords),
    origins: settings.baseUrl === undefined ? [] : [settings.baseUrl.origin],
    resetDelayMs,
    mcpUrl,
    checkMcpUrl: sharedFor(MCP_CHECK_MS, async () => {
      const missing = missingMcpUrl(settings);
      if (missing !== undefined) return { status: "warning", ...missing };
      // Without the Host of a request, which could name any server.
      const base = mcpUrl(reachableHost(host), signIn.https === true);
      return checkMcpUrl(base, send);
    }),
    version: VERSION,
  };
}

/** Opens the sign-on through an identity provider; undefined in built-in mode. @throws ConfigError if variables are missing */
async function openProvider(
  { settings, config, clock, authMode }: Setup,
  of: {
    store: Store;
    services: Services;
    signIn: Pick<SignInServices, "sessions" | "limits" | "throttle" | "https" | "pathPrefix">;
    host: string;
    baseUrl: () => string;
  },
): Promise<SignOnProvider | undefined> {
  const {
    groups,
    groups_claim: groupsClaim,
    trust_emails: trustEmails,
    default_role: defaultRole,
    refresh,
  } = config.authentication.sign_on;
  const policy: SignOnPolicy = {
    groups,
    defaultRole: defaultRole === "none" ? null : defaultRole,
    adminEmails: new Set(settings.adminEmails),
  };
  if (authMode === "cognito") {
    const cognito = cognitoSettings(settings.signOn);
    for (const warning of cognitoWarnings(of.host, settings)) of.services.log.warn(warning);
    const [{ albVerifier }, { cognitoProvider }] = await Promise.all([
      import("../auth/alb.ts"),
      import("../surfaces/session/cognito.ts"),
    ]);
    const { trustedProxies: proxies } = settings;
    const isProxy = proxies.length === 0 ? undefined : addressMatcher(proxies);
    const { clientId, domain } = cognito;
    const verify = albVerifier(cognito, clock, outgoingFetch(settings.proxies));
    const notBefore = await getRestoredAt(of.store);
    return cognitoProvider({ ...of, ...of.signIn, policy, verify, notBefore, clientId, domain, isProxy });
  }
  if (authMode === "oidc") {
    const oidc = oidcSettings(settings.signOn);
    const [{ oidcClient }, { oidcProvider }, { sealingKey }] = await Promise.all([
      import("../auth/oidc.ts"),
      import("../surfaces/session/oidc.ts"),
      import("../auth/sealing.ts"),
    ]);
    const clientSecret = (): string | undefined => settings.secrets.get(OIDC_CLIENT_SECRET);
    const client = oidcClient(
      { ...oidc, clientSecret, groupsClaim, trustEmails },
      clock,
      outgoingFetch(settings.proxies),
    );
    const flowKey = sealingKey(
      await getOrCreateKey(of.store, "cursor_key"),
      "a browser's way to the provider and back",
    );
    return oidcProvider({ ...of, policy, client, flowKey, refreshMs: durationMs(refresh) });
  }
  return undefined;
}
