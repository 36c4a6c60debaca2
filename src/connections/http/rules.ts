/** Decides by their names which hosts may be called: the configuration and the policy of the call must both allow them. */
import { isIP } from "node:net";
import type { Config } from "../../../schemas/config.ts";
import type { HttpPolicy } from "../../core/http-policy.ts";
import { NO_PROXIES, type OutgoingProxies, proxyPlace } from "../../core/outgoing-proxy.ts";
import { StepError } from "../../core/step-errors.ts";
import { isPublicAddress } from "./addresses.ts";
import { formatHostPort, hostMatcher, type HostPort, hostPortOf } from "../../core/host-patterns.ts";

/** Why a host must not be called. */
interface Refusal {
  code: "private_host" | "host_not_allowed";
  /** Follows the host in a sentence: "is …". */
  clause: string;
  fix: string;
}

/** The rules of a call. */
export interface HttpRules {
  /** Equal for equal rules: connections that were opened under other rules must not be used. */
  key: string;
  /** Whether a host may have a private address. */
  isPrivateAllowed(place: HostPort): boolean;
  /** Whether what is sent to an http URL can be read only in a network that the operator trusts. */
  isPlainAllowed(url: URL): boolean;
  /** Why a host must not be called, as far as it can be said without looking its name up. */
  refusal(place: HostPort): Refusal | undefined;
  /** The refusal of a host with a private address. */
  privateRefusal(place: HostPort): Refusal;
}

type Matcher = (place: HostPort) => boolean;

/** Returns a function that makes the rules of a call with a policy, or those of the configuration. */
export function httpRules(
  config: Config["http"],
  proxies: OutgoingProxies = NO_PROXIES,
): (policy: HttpPolicy | undefined) => HttpRules {
  const ownPrivate = hostMatcher(config.allowed_hosts);
  const ownPublic = publicMatcher({ public: config.public, publicHosts: config.public_hosts });
  const base = rulesOf("", ownPrivate, ownPublic, operatorAdvice(config), proxies);
  const cache = new WeakMap<HttpPolicy, HttpRules>();
  return (policy) => {
    if (policy === undefined) return base;
    const known = cache.get(policy);
    if (known !== undefined) return known;
    const privateHosts = hostMatcher(policy.privateHosts);
    const publicHosts = publicMatcher(policy);
    const rules = rulesOf(
      JSON.stringify([policy.public, policy.publicHosts, policy.privateHosts]),
      (place) => ownPrivate(place) && privateHosts(place),
      (place) => ownPublic(place) && publicHosts(place),
      PROJECT_ADVICE,
      proxies,
    );
    cache.set(policy, rules);
    return rules;
  };
}

function publicMatcher({ public: hosts, publicHosts }: Pick<HttpPolicy, "public" | "publicHosts">): Matcher {
  if (hosts === "list") return hostMatcher(publicHosts);
  return () => hosts === "any";
}

/** What to say about a host, written as in the configuration. */
interface Advice {
  notListed(host: string): Pick<Refusal, "clause" | "fix">;
  privateFix(host: string): string;
}

function rulesOf(
  key: string,
  isPrivateAllowed: Matcher,
  isPublicAllowed: Matcher,
  advice: Advice,
  proxies: OutgoingProxies,
): HttpRules {
  const privateRefusal = (place: HostPort): Refusal => ({
    code: "private_host",
    clause: "in a private network, which workflows must not call",
    fix: advice.privateFix(formatHostPort(place)),
  });
  return {
    key,
    isPrivateAllowed,
    // A proxy could read it too.
    isPlainAllowed: (url) => isPrivateAllowed(hostPortOf(url)) && proxies.proxyFor(url) === null,
    privateRefusal,
    refusal(place) {
      if (proxies.all.some((proxy) => isSamePlace(proxyPlace(proxy), place))) return PROXY_REFUSAL;
      if (isPrivateAllowed(place)) return undefined;
      if (isKnownPrivate(place)) return privateRefusal(place);
      if (isPublicAllowed(place)) return undefined;
      return { code: "host_not_allowed", ...advice.notListed(formatHostPort(place)) };
    },
  };
}

const isSamePlace = (one: HostPort, other: HostPort): boolean =>
  one.host === other.host && one.port === other.port;

/** A workflow that could talk to the proxy could reach everything that the proxy can. */
export const PROXY_REFUSAL: Refusal = {
  code: "host_not_allowed",
  clause: "the outgoing proxy, which workflows must not call",
  fix: "Call the service itself. Requests go through the proxy without being addressed to it.",
};

/** Whether a host is private without a DNS lookup. */
const isKnownPrivate = ({ host }: HostPort): boolean =>
  isIP(host) === 0 ? /(^|\.)localhost$/.test(host) : !isPublicAddress(host);

const operatorAdvice = ({ public: hosts }: Config["http"]): Advice => ({
  notListed: (host) =>
    hosts === "none"
      ? {
          clause: "not in http.allowed_hosts, the only hosts that workflows may call (http.public is none)",
          fix: `Ask the operator to add "${host}" to http.allowed_hosts if it is in a private network, or else to set http.public to list and add it to http.public_hosts.`,
        }
      : {
          clause: "not in http.public_hosts, the only public hosts that workflows may call",
          fix: `Ask the operator to add "${host}" to http.public_hosts in the configuration, or to http.allowed_hosts if it is in a private network.`,
        },
  privateFix: (host) =>
    `To allow it, ask the operator to add "${host}" to http.allowed_hosts in the configuration.`,
});

/** The same whether the project or the configuration refuses, so that it does not tell what others may call. */
const PROJECT_ADVICE: Advice = {
  notListed: (host) => ({
    clause: "not one of the hosts that this project may call",
    fix: `Ask an admin to grant the host "${host}" to this project. The configuration (http) must allow it too.`,
  }),
  privateFix: (host) =>
    `To allow it, ask an admin to grant the host "${host}" to this project. It must be in http.allowed_hosts of the configuration too.`,
};

/** The error for a host that is refused. It reveals neither the address nor whether anything answers there. */
export const blockedHostError = (place: HostPort, { clause, fix }: Refusal): StepError =>
  new StepError("http_blocked", `${formatHostPort(place)} is ${clause}.`, { fix });
