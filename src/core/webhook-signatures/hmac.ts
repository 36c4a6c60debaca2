/**
 * An HMAC in a header of the sender's own: Shopify, Linear, Zendesk, Zoom, Twilio and most others differ only in the header, the
 * encoding, and what they sign.
 */
import { parseEventPath } from "../event-path.ts";
import { headerBytes, headerText } from "../header-text.ts";
import { ambiguousCut, type SignedPart } from "./cuts.ts";
import { keyOf } from "./keys.ts";
import { momentRefusal } from "./moments.ts";
import { headerOf, idOf, isSigned, longId, mismatch, missingHeader, rawHeaderOf, refused } from "./parts.ts";
import { isOver, partsOf, SIGNED_BODY } from "./signed-content.ts";
import type { CheckedRequest, CheckScheme, SignatureResult, SignatureSettings } from "./types.ts";

/** Length of a digest, in bytes. */
const DIGEST_BYTES = { sha256: 32, sha1: 20, sha512: 64 } as const;
/** What separates the parts of a header that has several, such as `t=1492774577,v1=5257…` or `ts=…;h1=…`. */
const SEPARATORS = /[,;\s]+/;

const NOT_ONE_CUT =
  "The same signature would fit another delivery, so this one is refused. Ask the sender to sign with a separator.";

/** The id of a delivery is that of the header which the definition names. It is proved only where the signature is over it. */
export const checkHmac: CheckScheme = (request, settings) => {
  const { header = "", algorithm = "sha256", encoding = "hex", prefix = "", id: idHeader } = settings;
  const value = headerOf(request, header);
  if (value === undefined) return missingHeader(header, "The sender's signature must be in it.");
  const given = valuesOf(value, prefix).flatMap(
    (one) => digestOf(one, encoding, DIGEST_BYTES[algorithm]) ?? [],
  );
  if (given.length === 0) return refused("malformed", `${header} must be ${formOf(settings)}.`);
  const sentBytes = idHeader === undefined ? undefined : rawHeaderOf(request, idHeader);
  const sent = sentBytes === undefined ? undefined : headerText(sentBytes);
  const time = timeOf(request, settings);
  const content = contentOf(request, settings, { id: sentBytes, time });
  if (!Array.isArray(content)) return content;
  const values = content.map(({ value: part }) => part);
  const keys = request.secrets.flatMap((secret) => keyOf(secret, settings) ?? []);
  if (!isSigned(values, keys, given, encoding, algorithm)) return mismatch(header);
  const refusal = time === undefined ? undefined : momentRefusal(time, request.now, settings.timestamp!);
  if (refusal !== undefined) return refusal;
  const ambiguity = ambiguousCut(content, request.now);
  if (ambiguity !== undefined) return refused("malformed", `${ambiguity} ${NOT_ONE_CUT}`);
  // What is not signed proves nothing, and somebody could add it to refuse a delivery: it is then no id.
  if (sent !== undefined && idOf(sent) === null && isOver("id", settings)) return longId(idHeader!);
  return { valid: true, deliveryId: idOf(sent) };
};

/** The values of a header after a prefix. Without a prefix, and after the scheme of an Authorization header, it has one value. */
const valuesOf = (value: string, prefix: string): string[] =>
  prefix === ""
    ? [value]
    : prefix.endsWith(" ")
      ? afterScheme(value, prefix)
      : value
          .split(SEPARATORS)
          .flatMap((part) => (part.startsWith(prefix) ? [part.slice(prefix.length)] : []));

/** The scheme ignores case, and more than one space may follow it (RFC 9110, section 11.4). */
const afterScheme = (value: string, prefix: string): string[] =>
  value.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase()
    ? [value.slice(prefix.length).replace(/^ +/, "")]
    : [];

/** A digest as `isSigned` writes it: hexadecimal in lower case, or base64 with padding, not in the alphabet of URLs. */
function digestOf(text: string, encoding: "hex" | "base64", bytes: number): string | undefined {
  if (encoding === "hex")
    return text.length === 2 * bytes && /^[0-9a-f]*$/i.test(text) ? text.toLowerCase() : undefined;
  const [, characters, padding] = /^([A-Za-z0-9+/_-]+)(={0,2})$/.exec(text) ?? [];
  const length = 4 * Math.ceil(bytes / 3);
  if (characters?.length !== Math.ceil((8 * bytes) / 6)) return undefined;
  const isWhole = padding === "" || text.length === length;
  return isWhole ? characters.replaceAll("-", "+").replaceAll("_", "/").padEnd(length, "=") : undefined;
}

function formOf({ algorithm = "sha256", encoding = "hex", prefix = "" }: SignatureSettings): string {
  const bytes = DIGEST_BYTES[algorithm];
  const digest =
    encoding === "hex"
      ? `${2 * bytes} hexadecimal digits`
      : `${4 * Math.ceil(bytes / 3)} characters of base64`;
  return prefix === "" ? digest : `${prefix} and ${digest}`;
}

/** The time that the definition names, where it is in a header; undefined where it is missing or in the body. */
function timeOf(
  request: CheckedRequest,
  { timestamp, timestamp_prefix: prefix = "" }: SignatureSettings,
): string | undefined {
  if (timestamp === undefined || parseEventPath(timestamp) !== undefined) return undefined;
  const value = headerOf(request, timestamp);
  // Of several, none is the one that was signed.
  const [time, second] = value === undefined ? [] : valuesOf(value, prefix);
  return second === undefined ? time : undefined;
}

/** @returns the parts of what is signed, or the refusal of a request that lacks a part of them */
function contentOf(
  request: CheckedRequest,
  {
    signs = SIGNED_BODY,
    timestamp = "",
    timestamp_prefix: prefix = "",
    id: idHeader = "",
  }: SignatureSettings,
  { id, time }: { id: string | undefined; time: string | undefined },
): SignedPart[] | SignatureResult {
  const content: SignedPart[] = [];
  for (const { kind, text } of partsOf(signs)) {
    switch (kind) {
      case "literal":
        content.push({ kind, value: text });
        break;
      case "body":
        content.push({ kind, value: request.body });
        break;
      case "url": {
        const { url = "", search = "" } = request;
        content.push({ kind: "literal", value: url.slice(0, url.length - search.length) });
        content.push({ kind: "query", value: search });
        break;
      }
      case "timestamp":
        if (time === undefined)
          return prefix === ""
            ? missingHeader(timestamp, "The signature is over the time in it.")
            : refused("malformed", `${timestamp} must have one ${prefix} with the time that is signed.`);
        content.push({ kind, value: time });
        break;
      case "id":
        if (id === undefined) return missingHeader(idHeader, "The signature is over the id in it.");
        content.push({ kind, value: headerBytes(id) });
        break;
      case "form": {
        const fields = request.body.length === 0 ? [] : request.form?.();
        if (fields === undefined)
          return refused("malformed", "The body must be a form: the signature is over its fields.");
        content.push({ kind, value: sortedFields(fields) });
        break;
      }
      default:
        kind satisfies never;
    }
  }
  return content;
}

/** Names and values without separators, sorted, each pair once: https://www.twilio.com/docs/usage/security#validating-requests */
function sortedFields(fields: readonly (readonly [string, string])[]): string {
  const byName = Map.groupBy(fields, ([name]) => name);
  return [...byName.keys()]
    .toSorted(compare)
    .flatMap((name) =>
      [...new Set(byName.get(name)!.map(([, value]) => value))]
        .toSorted(compare)
        .map((value) => name + value),
    )
    .join("");
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
