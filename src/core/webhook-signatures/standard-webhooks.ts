/**
 * Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 * Svix sends the same under names of its own: https://docs.svix.com/receiving/verifying-payloads/how-manual
 */
import { headerBytes, headerText } from "../header-text.ts";
import { isEndedByTime } from "./cuts.ts";
import { SECONDS_PATTERN, timeRefusal } from "./moments.ts";
import {
  headerOf,
  idOf,
  isSigned,
  longId,
  mismatch,
  missingHeader,
  rawHeaderOf,
  refused,
  shown,
} from "./parts.ts";
import type { CheckScheme, SignedRequest } from "./types.ts";

const HINT =
  "Standard Webhooks sends webhook-id, webhook-timestamp and webhook-signature, or the same three with svix-.";
/** Base64 with and without its padding. The last group of four can't have a single character. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;
/** Before the secret. Supabase writes the version of the signatures before it, too. */
const PREFIX = /^(?:v1,)?whsec_/;

/** Symmetric signatures (`v1`); those with other versions are ignored, as the specification says. */
export const checkStandardWebhooks: CheckScheme = (request) => {
  // One set of names: headers of the two are never combined.
  const names = namesIn(request);
  const rawId = rawHeaderOf(request, names.id);
  const time = headerOf(request, names.time);
  const signatures = headerOf(request, names.signature);
  if (rawId === undefined) return missingHeader(names.id, HINT);
  if (time === undefined) return missingHeader(names.time, HINT);
  if (signatures === undefined) return missingHeader(names.signature, HINT);
  const id = headerText(rawId);
  if (idOf(id) === null) return longId(names.id);
  const keys = request.secrets.flatMap((secret) => standardWebhooksKey(secret) ?? []);
  const versions = signatures.split(" ").filter((one) => one.startsWith("v1,"));
  if (versions.length === 0)
    return refused("malformed", `${names.signature} has no signature of version v1, such as v1,K5oZfz….`);
  const content = [headerBytes(`${rawId}.${time}.`), request.body];
  const given = versions.map((one) => one.slice("v1,".length));
  if (!isSigned(content, keys, given, "base64")) return mismatch(names.signature);
  const refusal = timeRefusal(time, request.now, names.time);
  if (refusal !== undefined) return refusal;
  return isEndedByTime(id, { before: ".", rest: `${time}.`, after: ".", time: SECONDS_PATTERN })
    ? { valid: true, deliveryId: id }
    : refused("malformed", `${names.id} must have no time between full stops in it, got ${shown(id)}.`);
};

function namesIn(request: SignedRequest): { id: string; time: string; signature: string } {
  const isSvix =
    headerOf(request, "webhook-signature") === undefined && headerOf(request, "svix-signature") !== undefined;
  const prefix = isSvix ? "svix" : "webhook";
  return { id: `${prefix}-id`, time: `${prefix}-timestamp`, signature: `${prefix}-signature` };
}

/**
 * The key of a secret as it is written: base64 after `whsec_`, with or without its padding, and there also in the alphabet of
 * URLs. White space around it is no part of base64.
 * @returns undefined for any other text
 */
export function standardWebhooksKey(secret: string): Buffer | undefined {
  const text = secret.trim();
  const hasPrefix = PREFIX.test(text);
  const encoded = text.replace(PREFIX, "");
  const isForUrls = hasPrefix && /[-_]/.test(encoded) && !/[+/]/.test(encoded);
  const base64 = isForUrls ? encoded.replaceAll("-", "+").replaceAll("_", "/") : encoded;
  return BASE64.test(base64) ? Buffer.from(base64, "base64") : undefined;
}
