/** Checks the handshake of a trigger: that it is safe to answer, and that what the answer needs is there. */
import type { Http, PartialIssue } from "../../../core/connections.ts";
import { secretIssue } from "../../../core/webhook-signatures/issues.ts";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The signatures of senders that sign their checks, as the fix writes them. */
const SIGNED: Readonly<Record<string, string>> = {
  zoom: 'header: x-zm-signature, prefix: v0=, signs: "v0:{timestamp}:{body}", timestamp: x-zm-request-timestamp',
  x: "header: x-twitter-webhooks-signature, prefix: sha256=, encoding: base64",
  twitch:
    'header: Twitch-Eventsub-Message-Signature, prefix: sha256=, signs: "{id}{timestamp}{body}", timestamp: Twitch-Eventsub-Message-Timestamp, id: Twitch-Eventsub-Message-Id',
};

/** @param entries the secrets that may be used; left out, their names are not checked */
export function handshakeIssues(
  { handshake, signature }: Record<string, unknown>,
  entries: ReturnType<Http["secrets"]> | undefined,
): PartialIssue[] {
  // The schema of the definition reports others.
  if (!isObject(handshake)) return [];
  const { type, verify_token: token } = handshake;
  const issues: PartialIssue[] = [];
  const signed = typeof type === "string" && Object.hasOwn(SIGNED, type) ? SIGNED[type] : undefined;
  if (signed !== undefined && (!isObject(signature) || signature["scheme"] !== "hmac"))
    issues.push({
      path: ["handshake", "type"],
      code: "not_allowed",
      message: "needs a signature with the scheme hmac, with whose secret the check is signed or answered",
      fix: `Add signature: { scheme: hmac, ${signed}, secret: … }.`,
    });
  if (type === "meta" && token === undefined)
    issues.push({
      path: ["handshake", "verify_token"],
      code: "missing",
      message: "must be the name of the secret that is entered at Meta as the verify token",
      fix: "Ask the operator to add a secret for it to secrets in the configuration, with hosts: [].",
    });
  if (type !== "meta" && token !== undefined)
    issues.push({
      path: ["handshake", "verify_token"],
      code: "not_allowed",
      message: "is for meta only",
      fix: "Remove verify_token.",
    });
  const found = type === "meta" && entries !== undefined ? secretIssue(token, undefined, entries) : undefined;
  if (found !== undefined) issues.push({ ...found, path: ["handshake", "verify_token"] });
  return issues;
}
