/** The issues of the signatures that definitions declare. */
import type { Http, PartialIssue } from "../connections.ts";
import { nearMatch } from "../near-match.ts";

type Secrets = ReturnType<Http["secrets"]>;

/** The codes of secrets of signatures: a run that somebody starts by hand needs none. */
export const SIGNATURE_SECRET = {
  unknown: "unknown_signature_secret",
  notSet: "signature_secret_not_set",
} as const;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The issues of a signature, with paths below what declares it.
 * @param signature of any type; undefined is accepted
 * @param entries the secrets that may be used; left out, their names are not checked
 */
export function signatureIssues(signature: unknown, entries: Secrets | undefined): PartialIssue[] {
  if (!isObject(signature)) return [];
  const issues: PartialIssue[] = [];
  const { scheme, secret, header } = signature;
  if (header !== undefined && scheme !== "shared_secret")
    issues.push({
      path: ["signature", "header"],
      code: "not_allowed",
      message: `is for shared_secret only: ${String(scheme)} has headers of its own`,
      fix: "Remove header.",
    });
  if (entries === undefined) return issues;
  // The schema of the definition reports other types.
  const names: readonly unknown[] =
    typeof secret === "string" ? [secret] : Array.isArray(secret) ? secret : [];
  for (const [index, name] of names.entries()) {
    const found = secretIssue(name, entries);
    const at = typeof secret === "string" ? [] : [index];
    if (found !== undefined) issues.push({ path: ["signature", "secret", ...at], ...found });
  }
  return issues;
}

function secretIssue(name: unknown, entries: Secrets): PartialIssue | undefined {
  // The schema of the definition reports others.
  if (typeof name !== "string") return undefined;
  const entry = entries.find((other) => other.name === name);
  if (entry !== undefined)
    return entry.unavailableReason === null
      ? undefined
      : {
          code: SIGNATURE_SECRET.notSet,
          message: `names a secret that ${entry.unavailableReason}`,
          fix: "Ask the operator to set the variable of its key_var.",
        };
  const names = entries.map((other) => other.name);
  const near = nearMatch(name, names);
  return {
    code: SIGNATURE_SECRET.unknown,
    message: "is not the name of a secret in the configuration",
    allowed: names,
    ...(near !== undefined && { did_you_mean: near }),
    fix:
      near === undefined
        ? "Use an existing secret, or ask the operator to add it to secrets in the configuration, with hosts: []."
        : `Write ${near}.`,
  };
}
