/** Conditions on the revision of a resource: If-Match and If-None-Match (RFC 9110, section 13.1). */
import fresh from "fresh";
import { MAX_VERSION } from "../../../schemas/workflow.ts";

const TAG = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const TAGS = new RegExp(String.raw`^\s*${TAG}(?:\s*,\s*${TAG})*\s*$`);

/**
 * Suffixes of the codings of proxies that compress: `-gzip` of Apache, Caddy and lighttpd, `--gzip` of Jetty, `;gzip` of older ones.
 * They add them to our tags, and do not remove them from requests. No tag of ours ends in one.
 */
const CODINGS = /(?:(?:--?|;)(?:x-)?(?:gzip|br|brotli|zstd|deflate|compress|bzip2))+(?="\s*(?:,|$))/gi;

/** A header with tags as this server has sent them, before a proxy compressed the response. */
const withoutCodings = (header: string): string => header.replace(CODINGS, "");

/**
 * Parses If-Match (RFC 9110, section 13.1.1). `"3"` is version 3, and so are `"3-p2"` (version 2 is published), `"3-u…"`
 * (others call it), `W/"3"` and `"3-gzip"`: proxies that compress weaken tags or add a suffix to them, although the version that they name is the same. `*` sets no
 * condition. Of several tags the highest version counts: versions only grow, so a lower one can't be current. A tag without a
 * version becomes 0, which never matches.
 * @returns undefined if the header is malformed
 */
export function parseIfMatch(header: string): { value: number | undefined } | undefined {
  if (header.trim() === "*") return { value: undefined };
  if (!TAGS.test(header)) return undefined;
  const tags = withoutCodings(header).matchAll(/"([1-9]\d{0,9})(?:-p\d{1,10})?(?:-u[\w-]{1,64})?"/g);
  const versions = [...tags].map((tag) => Number(tag[1]));
  return { value: Math.max(0, ...versions.filter((version) => version <= MAX_VERSION)) };
}

/**
 * Whether the client's copy is current, so that 304 is enough (RFC 9110, section 13.1.2). Cache-Control is not considered:
 * `fetch` sends `no-cache` with every If-None-Match that a script sets.
 */
export const isFresh = (ifNoneMatch: string | undefined, etag: string): boolean =>
  fresh({ "if-none-match": ifNoneMatch && withoutCodings(ifNoneMatch) }, { etag });
