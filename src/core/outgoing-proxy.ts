/** The outgoing proxy of the standard variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY, and the targets that it is used for. */
import { BlockList, isIP } from "node:net";
import { domainToASCII } from "node:url";
import { isLoopback, plainHost } from "./hosts.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface OutgoingProxy {
  /** The variable that names it. */
  variable: string;
  /** Its URL without the user name and the password. */
  url: URL;
  /** The value of Proxy-Authorization; null without a user name. */
  authorization: string | null;
  /** Its URL with the user name and the password, for libraries that take one. Never log it. */
  secretUrl: string;
}

/** A URL, or the parts of one that choose a proxy. */
export type ProxyTarget = Pick<URL, "protocol" | "hostname"> & { port?: string | number | null | undefined };

export interface OutgoingProxies {
  /** The proxies, each once. */
  all: readonly OutgoingProxy[];
  /** The value of NO_PROXY. */
  noProxy: string;
  /** The proxy that requests to a target go through; null for a direct connection. */
  proxyFor(target: ProxyTarget): OutgoingProxy | null;
}

export interface ReadProxies {
  proxies: OutgoingProxies;
  /** Clauses that begin with a variable. They repeat no value, which may contain a password. */
  issues: readonly string[];
  warnings: readonly string[];
}

/**
 * Reads the variables with the rules of curl and Go: the name in lower case has precedence, an empty value counts as not
 * set, HTTPS_PROXY is for https and HTTP_PROXY for http targets, and this machine is always reached directly.
 */
export function readProxies(env: Env): ReadProxies {
  const issues: string[] = [];
  const warnings: string[] = [];
  const proxyOf = (name: string): OutgoingProxy | null => {
    const { variable, value } = valueOf(env, name);
    if (value === "") return null;
    const proxy = parseProxy(variable, value);
    if (typeof proxy !== "string") return proxy;
    issues.push(`${variable} ${proxy}`);
    return null;
  };
  const byProtocol: Readonly<Record<string, OutgoingProxy | null>> = {
    "https:": proxyOf("HTTPS_PROXY"),
    "http:": proxyOf("HTTP_PROXY"),
  };
  const { variable, value: noProxy } = valueOf(env, "NO_PROXY");
  const exceptions = noProxy.split(/[\s,]+/).flatMap((entry) => {
    if (entry === "") return [];
    const matcher = parseException(entry);
    if (matcher === undefined)
      warnings.push(
        `${variable}: "${entry}" matches nothing. Write a name, an address, a range (10.0.0.0/8) or *`,
      );
    return matcher === undefined ? [] : [matcher];
  });
  const found = Object.values(byProtocol).filter((proxy) => proxy !== null);
  return {
    proxies: {
      all: found.filter(
        ({ secretUrl }, index) => found.findIndex((other) => other.secretUrl === secretUrl) === index,
      ),
      noProxy,
      proxyFor({ protocol, hostname, port }) {
        const proxy = byProtocol[protocol];
        if (proxy === undefined || proxy === null) return null;
        const host = plainHost(hostname);
        if (isLoopback(host)) return null;
        const number = Number(port) || (protocol === "https:" ? 443 : 80);
        return exceptions.some((matches) => matches(host, number)) ? null : proxy;
      },
    },
    issues,
    warnings,
  };
}

/** No proxy: every connection is direct. */
export const NO_PROXIES: OutgoingProxies = readProxies({}).proxies;

/** The texts of the proxies' credentials, to mask them. */
export function proxySecrets({ all }: OutgoingProxies): string[] {
  return all.flatMap(({ secretUrl }) => {
    const { password } = new URL(secretUrl);
    return password === "" ? [] : [password, decodeURIComponent(password)];
  });
}

/** The host and the port of a proxy. */
export const proxyPlace = ({ url }: OutgoingProxy): { host: string; port: number } => ({
  host: plainHost(url.hostname),
  port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
});

function valueOf(env: Env, name: string): { variable: string; value: string } {
  const lower = name.toLowerCase();
  const variable = (env[lower] ?? "").trim() === "" ? name : lower;
  return { variable, value: (env[variable] ?? "").trim() };
}

/** @returns the proxy, or what is wrong with the value */
function parseProxy(variable: string, value: string): OutgoingProxy | string {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`);
  if (url === null)
    return "must be the URL of a proxy, such as http://proxy.internal:3128 (its value is not shown, because it may contain a password)";
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return `must begin with http:// or https://, got ${url.protocol.slice(0, 20)}//. Other kinds of proxies are not supported`;
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    return "must not have a path, a query or a fragment. Encode special characters of the password: # as %23, ? as %3F, / as %2F";
  const secretUrl = url.href;
  let credentials: string;
  try {
    credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  } catch {
    return "has a % in its user name or password that begins no percent-encoding. Write % as %25";
  }
  url.username = "";
  url.password = "";
  const authorization = credentials === ":" ? null : `Basic ${Buffer.from(credentials).toString("base64")}`;
  return { variable, url, authorization, secretUrl };
}

type Exception = (host: string, port: number) => boolean;

/**
 * Parses an entry of NO_PROXY: `*`, an address or range, or a name, which matches the names below it too; `.example.com` and
 * `*.example.com` match only these. All but `*` and ranges can have a port.
 */
function parseException(entry: string): Exception | undefined {
  if (entry === "*") return () => true;
  const [, address = "", prefix = ""] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (address !== "") return rangeMatcher(address, Number(prefix));
  const [, withPort, digits] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(entry) ?? [];
  const port = digits === undefined ? null : Number(digits);
  const host = plainHost(withPort ?? entry);
  const matchesHost = isIP(host) === 0 ? nameMatcher(host) : rangeMatcher(host, isIP(host) === 4 ? 32 : 128);
  return matchesHost && ((given, givenPort) => (port === null || port === givenPort) && matchesHost(given));
}

function rangeMatcher(address: string, prefix: number): ((host: string) => boolean) | undefined {
  const family = isIP(address);
  if (family === 0 || prefix > (family === 4 ? 32 : 128)) return undefined;
  const list = new BlockList();
  list.addSubnet(address, prefix, family === 4 ? "ipv4" : "ipv6");
  return (host) => isIP(host) !== 0 && list.check(host, isIP(host) === 4 ? "ipv4" : "ipv6");
}

function nameMatcher(text: string): ((host: string) => boolean) | undefined {
  const name = text.replace(/^\*(?=\.)/, "");
  const below = name.startsWith(".");
  // What follows these would be cut off.
  const ascii = /[/?#\\@]/.test(name) ? "" : domainToASCII(below ? name.slice(1) : name);
  if (!/^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/.test(ascii)) return undefined;
  return (host) => (!below && host === ascii) || host.endsWith(`.${ascii}`);
}
