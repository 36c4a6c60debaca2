/** The secrets that workflows can use, and the hosts that each may be sent to. */
import type { Config } from "../../../schemas/config.ts";
import type { Http, PartialIssue } from "../../core/connections.ts";
import { nearMatch } from "../../core/near-match.ts";
import { StepError, type StepErrorCode } from "../../core/step-errors.ts";
import { CORRECT_ENTRY, unusableNames } from "../../core/unusable-entries.ts";
import { describeVariable } from "../../core/variables.ts";
import { hostMatcher, type HostPort, hostPortOf, formatHostPort } from "./hosts.ts";

export interface Secrets {
  list: Http["secrets"];
  /** Why a secret cannot be used, or not in a request to `url`; the message follows its name. */
  issue(name: string, url: URL | null): PartialIssue | undefined;
  /** @throws StepError environment, http_blocked */
  valueFor(name: string, url: URL): string;
  /** The values of all secrets that may be sent to `place`, which could send them back. */
  valuesSendableTo(place: HostPort): string[];
}

type Env = Readonly<Record<string, string | undefined>>;

/** @param isAllowed whether the operator has listed this private host, where http is allowed */
export function loadSecrets(config: Config, env: Env, isAllowed: (place: HostPort) => boolean): Secrets {
  const entries = config.secrets.map((secret) => ({
    ...secret,
    isFor: hostMatcher(secret.hosts),
    value: env[secret.key_var] ?? "",
  }));
  const named = (name: string) => entries.find((secret) => secret.name === name);
  const names = entries.map((secret) => secret.name);
  const unusable = unusableNames(config, "secrets");

  function issue(name: string, url: URL | null): PartialIssue | undefined {
    const entry = named(name);
    const broken = unusable.find((other) => other.name === name);
    if (broken !== undefined)
      return { code: "secret_not_set", message: `can't be used: ${broken.reason}`, fix: CORRECT_ENTRY };
    if (entry === undefined) return unknown(name, names);
    if (entry.value === "")
      return {
        code: "secret_not_set",
        message: `is not set: ${describeVariable(entry.key_var)} (its key_var) is missing or empty`,
        fix: "Ask the operator to set that variable and restart Millrace.",
      };
    if (/[\r\n\0]/.test(entry.value)) return { code: "secret_malformed", ...MALFORMED };
    if (url === null) return undefined;
    const place = hostPortOf(url);
    if (!entry.isFor(place))
      return {
        code: "secret_not_for_host",
        message: `must not be sent to ${formatHostPort(place)}`,
        allowed: [...entry.hosts],
        fix: `Call one of its hosts, or ask the operator to add ${place.host} to its hosts.`,
      };
    return url.protocol === "https:" || isAllowed(place) ? undefined : { code: "secret_in_plain", ...PLAIN };
  }

  return {
    list: () =>
      [...entries, ...unusable.map(({ name }) => ({ name, hosts: [] }))].map(({ name, hosts }) => ({
        name,
        type: "secret",
        unavailableReason: issue(name, null)?.message ?? null,
        hosts,
      })),
    issue,
    valueFor(name, url) {
      const found = issue(name, url);
      if (found === undefined) return named(name)!.value;
      const meant = found.did_you_mean === undefined ? "" : ` Did you mean "${found.did_you_mean}"?`;
      throw new StepError(
        ERRORS[found.code] ?? "environment",
        `The secret "${name.slice(0, 100)}" ${found.message}.${meant}`,
        found.fix === undefined ? {} : { fix: found.fix },
      );
    },
    valuesSendableTo: (place) =>
      entries.filter((secret) => secret.isFor(place)).map((secret) => secret.value),
  };
}

const MALFORMED = {
  message: "contains a line break, which headers cannot contain",
  fix: "Ask the operator to remove the line break at the end of its variable.",
};
const PLAIN = {
  message: "must not be sent over unencrypted http",
  fix: "Use https:// in url. Only hosts in http.allowed_hosts can get it over http.",
};
const ERRORS: Readonly<Record<string, StepErrorCode>> = {
  secret_not_for_host: "http_blocked",
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
