/** The issues of the signatures that definitions declare. */
import { HeaderName } from "../../../schemas/signature.ts";
import type { Http, PartialIssue } from "../connections.ts";
import { parseEventPath } from "../event-path.ts";
import { nearMatch } from "../near-match.ts";
import { inseparablePart } from "./cuts.ts";
import { secretFormOf } from "./secret-forms.ts";
import { isOver, PART_NAMES, unknownParts } from "./signed-content.ts";

type Secrets = ReturnType<Http["secrets"]>;

/** The codes of secrets of signatures: a run that somebody starts by hand needs none. */
export const SIGNATURE_SECRET = {
  unknown: "unknown_signature_secret",
  notSet: "signature_secret_not_set",
  malformed: "signature_secret_malformed",
} as const;

/** The fields of a signature that belong to some schemes only. */
const SCHEMES_OF_FIELDS: Readonly<Record<string, readonly unknown[]>> = {
  header: ["shared_secret", "hmac"],
  algorithm: ["hmac"],
  encoding: ["hmac"],
  secret_encoding: ["hmac"],
  prefix: ["hmac"],
  signs: ["hmac"],
  timestamp: ["hmac"],
  timestamp_prefix: ["hmac"],
  id: ["hmac"],
};

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
  const add = (field: string, found: PartialIssue): void =>
    void issues.push({ ...found, path: ["signature", field, ...(found.path ?? [])] });
  const { scheme, secret } = signature;
  for (const [field, schemes] of Object.entries(SCHEMES_OF_FIELDS))
    if (signature[field] !== undefined && !schemes.includes(scheme))
      add(field, {
        code: "not_allowed",
        message: `is for ${schemes.join(" and ")} only: ${String(scheme)} has headers of its own`,
        fix: `Remove ${field}.`,
      });
  if (scheme === "hmac") hmacIssues(signature, add);
  if (entries === undefined) return issues;
  // The schema of the definition reports other types.
  const names: readonly unknown[] =
    typeof secret === "string" ? [secret] : Array.isArray(secret) ? secret : [];
  for (const [index, name] of names.entries()) {
    const found = secretIssue(name, secretFormOf(signature), entries);
    if (found !== undefined) add("secret", { ...found, path: typeof secret === "string" ? [] : [index] });
  }
  return issues;
}

/**
 * Issues of what an HMAC is over: a time or a body that is named and not signed protects nothing. An `id` need not be signed, because
 * most senders sign none: it recognizes honest repetitions.
 */
function hmacIssues(
  { header, signs, timestamp, timestamp_prefix: timePrefix, id }: Record<string, unknown>,
  add: (field: string, issue: PartialIssue) => void,
): void {
  if (header === undefined)
    add("header", {
      code: "missing",
      message: "must be the header that has the signature",
      fix: "Write header: and the name that the sender documents, such as X-Shopify-Hmac-Sha256.",
    });
  // The schema of the definition reports other types.
  if (signs !== undefined && typeof signs !== "string") return;
  const over = { signs };
  const unknown = unknownParts(signs ?? "");
  if (unknown.length > 0)
    add("signs", {
      code: "invalid",
      message: `has {${unknown[0]!.slice(0, 40)}}, which is no part of a request`,
      allowed: [...PART_NAMES],
      fix: `Use ${PART_NAMES.join(", ")}.`,
    });
  if (!isOver("body", over) && !isOver("form", over))
    add("signs", {
      code: "invalid",
      message: "must have {body} or {form}: else the signature says nothing about what is sent",
      fix: "Write {body} where the sender signs the bytes of the body.",
    });
  const inseparable = inseparablePart(signs ?? "");
  if (inseparable !== undefined)
    add("signs", {
      code: "invalid",
      message: `has {${inseparable}} beside another part without a separator, so the same signature would fit other deliveries`,
      fix: `Write the text that the sender puts beside {${inseparable}}, such as a full stop. If it puts none there, use shared_secret.`,
    });
  if (isOver("id", over) && id === undefined)
    add("id", {
      code: "missing",
      message: "must be the header of {id}, over which the signature is",
      fix: "Write id: and the name of the header.",
    });
  timeIssues({ over, timestamp, timePrefix }, add);
}

function timeIssues(
  {
    over,
    timestamp,
    timePrefix,
  }: { over: { signs?: string | undefined }; timestamp: unknown; timePrefix: unknown },
  add: (field: string, issue: PartialIssue) => void,
): void {
  const path = typeof timestamp === "string" ? parseEventPath(timestamp) : undefined;
  const isInBody = path?.root === "body";
  const isSigned = isOver("timestamp", over);
  const isHeader = path === undefined && HeaderName.safeParse(timestamp).success;
  const meant = path?.root === "headers" && path.names.length === 1 ? String(path.names[0]) : undefined;
  if (isSigned && !isHeader)
    add("timestamp", {
      code: timestamp === undefined ? "missing" : "invalid",
      message: "must be the name of the header of {timestamp}, over which the signature is",
      ...(meant !== undefined && { did_you_mean: meant }),
      fix: `Write timestamp: ${meant ?? "and the name of the header"}.`,
    });
  if (typeof timestamp === "string" && !isSigned && !isInBody)
    add("timestamp", {
      code: "not_allowed",
      message: "is not signed, so anybody can change it",
      fix: "Write {timestamp} in signs where the sender signs it, or name a value of the signed body, such as event.body.sentAt.",
    });
  if (timePrefix !== undefined && !isSigned)
    add("timestamp_prefix", {
      code: "not_allowed",
      message: "is for {timestamp} in signs only",
      fix: "Remove timestamp_prefix.",
    });
}

/**
 * The issue of the name of a secret; undefined for one that can be used.
 * @param form that its value must have; left out for any form
 */
export function secretIssue(name: unknown, form: unknown, entries: Secrets): PartialIssue | undefined {
  // The schema of the definition reports others.
  if (typeof name !== "string") return undefined;
  const entry = entries.find((other) => other.name === name);
  if (entry !== undefined) return valueIssue(entry, form);
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

/** Why the value of a secret is of no use for a scheme. The value itself stays in the connections. */
function valueIssue({ unavailableReason, unfit }: Secrets[number], form: unknown): PartialIssue | undefined {
  if (unfit === null)
    return unavailableReason === null
      ? undefined
      : {
          code: SIGNATURE_SECRET.notSet,
          message: `names a secret that ${unavailableReason}`,
          fix: "Ask the operator to set the variable of its key_var.",
        };
  const found = unfit.find((other) => other.scheme === form);
  return (
    found && {
      code: SIGNATURE_SECRET.malformed,
      ...(found.severity === "warning" && { severity: "warning" }),
      message: `names a secret that ${found.message}`,
      fix: `Ask the operator to ${found.fix}.`,
    }
  );
}
