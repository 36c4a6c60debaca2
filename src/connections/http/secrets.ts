/** The secrets that workflows may name, and where each may go. */
import type { Config } from "../../../schemas/config.ts";
import type { Http, PartialIssue } from "../../core/connections.ts";
import { nearMatch } from "../../core/near-match.ts";
import { StepError, type StepErrorCode } from "../../core/step-errors.ts";
import { describeVariable } from "../../core/variables.ts";
import { hostMatcher, type HostPort, hostPortOf, formatHostPort } from "./hosts.ts";

export interface Secrets {
  list: Http["secrets"];
  /** Why a secret can't be used, or not in a call of `url`; the message follows its name. */
  issue(name: string, url: URL | null): PartialIssue | undefined;
  /** @throws StepError environment, http_blocked */
  valueFor(name: string, url: URL): string;
  /** The values of all that `place` may get: what it may know, and could send back. */
  valuesSendableTo(place: HostPort): string[];
}

type Env = Readonly<Record<string, string | undefined>>;

/** @param isAllowed whether the operator named this place as a private one: there plain http is as good */
export function loadSecrets(config: Config, env: Env, isAllowed: (place: HostPort) => boolean): Secrets {
  const entries = config.secrets.map((it) => ({
    ...it,
    isFor: hostMatcher(it.hosts),
    value: env[it.key_var] ?? "",
  }));
  const named = (name: string) => entries.find((it) => it.name === name);
  const names = entries.map((it) => it.name);

  function issue(name: string, url: URL | null): PartialIssue | undefined {
    const entry = named(name);
    if (entry === undefined) return unknown(name, names);
    if (entry.value === "")
      return {
        code: "secret_not_set",
        message: `is not set: ${describeVariable(entry.key_var)}, which its key_var names, is missing or empty`,
        fix: "The operator sets that variable and starts the service again.",
      };
    if (/[\r\n\0]/.test(entry.value)) return { code: "secret_malformed", ...MALFORMED };
    if (url === null) return undefined;
    const place = hostPortOf(url);
    if (!entry.isFor(place))
      return {
        code: "secret_not_for_host",
        message: `may not be sent to ${formatHostPort(place)}`,
        allowed: [...entry.hosts],
        fix: `Call one of the hosts that it is for, or have the operator add ${place.host} to its hosts.`,
      };
    return url.protocol === "https:" || isAllowed(place) ? undefined : { code: "secret_in_plain", ...PLAIN };
  }

  return {
    list: () =>
      entries.map((it) => ({
        name: it.name,
        type: "secret",
        unavailableReason: issue(it.name, null)?.message ?? null,
        hosts: it.hosts,
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
    valuesSendableTo: (place) => entries.filter((it) => it.isFor(place)).map((it) => it.value),
  };
}

const MALFORMED = {
  message: "holds a line break, which no header can carry",
  fix: "The operator sets its variable without a line break at the end.",
};
const PLAIN = {
  message: "is never sent over plain http",
  fix: "Write https:// in url. Only to a host in http.allowed_hosts may it go over plain http.",
};
const ERRORS: Readonly<Record<string, StepErrorCode>> = {
  secret_not_for_host: "http_blocked",
  secret_in_plain: "http_blocked",
};

function unknown(name: string, names: readonly string[]): PartialIssue {
  const near = nearMatch(name, names);
  return {
    code: "unknown_secret",
    message: "is not the name of a secret that the configuration has",
    allowed: [...names],
    ...(near !== undefined && { did_you_mean: near }),
    fix:
      near === undefined
        ? "Use one that is there, or have the operator add it to secrets in the configuration."
        : `Write ${near}.`,
  };
}
