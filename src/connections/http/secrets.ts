/** The secrets that workflows can use, and the requests that each may be sent in. */
import type { Http, PartialIssue } from "../../core/connections.ts";
import { nearMatch } from "../../core/near-match.ts";
import type { SecretSource } from "../../core/secret-source.ts";
import { StepError, type StepErrorCode } from "../../core/step-errors.ts";
import { CORRECT_ENTRY, unusableNames } from "../../core/unusable-entries.ts";
import { unfitFor } from "../../core/webhook-signatures/secret-forms.ts";
import { type ConnectionConfig, missingFix } from "../limit-config.ts";
import { hostMatcher, hostPortOf, formatHostPort } from "../../core/host-patterns.ts";
import { parseUrl } from "./parse-url.ts";
import type { HttpRules } from "./rules.ts";

/** Where a secret is sent. Null stands for what is not known yet. */
interface SecretUse {
  url: URL | null;
  method: string | null;
  header: string;
  /** The rules of the call, by which a private host may get it without encryption. */
  rules: HttpRules;
}

export interface Secrets {
  list: Http["secrets"];
  /** Why a secret cannot be used, or not in this way; the message follows its name. */
  issue(name: string, use: SecretUse): PartialIssue | undefined;
  /** The URL that is the value of a secret, or why it cannot be used; the message follows its name. */
  urlOf(name: string, use: Pick<SecretUse, "method" | "rules">): URL | PartialIssue;
  /** @throws StepError environment, http_blocked */
  valueFor(name: string, use: SecretUse): string;
  /** The variables that hold the secrets of these names. */
  variablesOf(names: readonly string[]): string[];
}

/** @param source the values, which can change */
export function openHttpSecrets(
  config: Pick<ConnectionConfig, "secrets" | "unusable" | "isLimited">,
  source: SecretSource,
): Secrets {
  const entries = config.secrets.map((secret) => ({
    ...secret,
    isFor: hostMatcher(secret.hosts),
  }));
  type Entry = (typeof entries)[number];
  const named = (name: string) => entries.find((secret) => secret.name === name);
  const names = entries.map((secret) => secret.name);
  const unusable = unusableNames(config, "secrets");

  function issue(name: string, { url, method, header, rules }: SecretUse): PartialIssue | undefined {
    const entry = named(name);
    const found = unusableIssue(name, entry);
    if (found !== undefined || entry === undefined) return found;
    const { methods = [], headers = [] } = entry;
    if (headers.length > 0 && !headers.some((one) => one.toLowerCase() === header.toLowerCase()))
      return {
        code: "secret_not_for_header",
        message: `must not be sent in the header ${header.slice(0, 100)}`,
        allowed: headers,
        fix: `Send it in ${headers.join(" or ")}, or ask the operator to add ${header.slice(0, 100)} to its headers.`,
      };
    if (method !== null && methods.length > 0 && !methods.some((one) => one === method))
      return {
        code: "secret_not_for_method",
        message: `must not be sent with ${method.slice(0, 20)}`,
        allowed: methods,
        fix: `Use ${methods.join(" or ")}, or ask the operator to add ${method.slice(0, 20)} to its methods.`,
      };
    return url === null ? undefined : hostIssue(entry, url, rules);
  }

  function unusableIssue(name: string, entry: Entry | undefined): PartialIssue | undefined {
    const broken = unusable.find((other) => other.name === name);
    if (broken !== undefined)
      return { code: "secret_not_set", message: `can't be used: ${broken.reason}`, fix: CORRECT_ENTRY };
    if (entry === undefined) return unknown(name, names);
    const reason = source.missingReason(entry.key_var);
    if (reason !== null)
      return {
        code: "secret_not_set",
        message: `has no value: ${reason}`,
        fix: "Ask the operator to set the variable of its key_var.",
      };
    if (/[\r\n\0]/.test(source.get(entry.key_var) ?? "")) return { code: "secret_malformed", ...MALFORMED };
    return undefined;
  }

  function hostIssue(entry: Entry, url: URL, rules: HttpRules): PartialIssue | undefined {
    const place = hostPortOf(url);
    if (!entry.isFor(place))
      return {
        code: "secret_not_for_host",
        message: `must not be sent to ${formatHostPort(place)}`,
        allowed: [...entry.hosts],
        fix: `Call one of its hosts, or ask the operator to add ${place.host} to its hosts.`,
      };
    return url.protocol === "https:" || rules.isPlainAllowed(url)
      ? undefined
      : { code: "secret_in_plain", ...PLAIN };
  }

  return {
    list: () =>
      [...entries, ...unusable].map(({ name }) => {
        const { hosts = [], methods = null, headers = null } = named(name) ?? {};
        const unavailableReason = unusableIssue(name, named(name))?.message ?? null;
        const value = source.get(named(name)?.key_var ?? "");
        const unfit = value === undefined ? null : unfitFor(value);
        return { name, type: "secret", unavailableReason, hosts, methods, headers, unfit };
      }),
    issue,
    urlOf(name, { method, rules }) {
      const entry = named(name);
      const found = unusableIssue(name, entry);
      if (found !== undefined || entry === undefined) return found ?? unknown(name, names);
      if ((entry.headers ?? []).length > 0) return ONLY_IN_HEADERS;
      const url = parseUrl(source.get(entry.key_var)!.trim());
      if (!(url instanceof URL)) return { code: "secret_malformed", ...NO_URL };
      return issue(name, { url, method, header: "", rules }) ?? url;
    },
    variablesOf: (used) => used.flatMap((name) => named(name)?.key_var ?? []),
    valueFor(name, use) {
      const found = issue(name, use);
      if (found === undefined) return source.get(named(name)!.key_var)!;
      const meant = found.did_you_mean === undefined ? "" : ` Did you mean "${found.did_you_mean}"?`;
      throw new StepError(
        ERRORS[found.code] ?? "environment",
        `The secret "${name.slice(0, 100)}" ${found.message}.${meant}`,
        found.fix === undefined
          ? {}
          : { fix: found.code === "unknown_secret" ? missingFix(config, found.fix) : found.fix },
      );
    },
  };
}

const MALFORMED = {
  message: "contains a line break, which headers cannot contain",
  fix: "Ask the operator to remove the line break at the end of its variable.",
};
const ONLY_IN_HEADERS = {
  code: "secret_not_for_header",
  message: "may only be sent in some headers, so it can't be a URL",
  fix: "Ask the operator for a secret without headers whose value is the URL.",
};
const NO_URL = {
  message: "is not a URL that can be called",
  fix: "Ask the operator to set its variable to the complete URL, such as https://hooks.example.com/services/…, without a user name.",
};
const PLAIN = {
  message: "must not be sent over unencrypted http",
  fix: "Use https:// in url. Only hosts in http.allowed_hosts can get it over http, and not through a proxy: the operator can add them to NO_PROXY.",
};
const ERRORS: Readonly<Record<string, StepErrorCode>> = {
  secret_not_for_host: "http_blocked",
  secret_not_for_header: "http_blocked",
  secret_not_for_method: "http_blocked",
  secret_in_plain: "http_blocked",
};

function unknown(name: string, names: readonly string[]): PartialIssue {
  const near = nearMatch(name, names);
  return {
    code: "unknown_secret",
    message: "is not the name of a secret in the configuration",
    allowed: [...names],
    ...(near !== undefined && { did_you_mean: near }),
    fix:
      near === undefined
        ? "Use an existing secret, or ask the operator to add it to secrets in the configuration."
        : `Write ${near}.`,
  };
}
