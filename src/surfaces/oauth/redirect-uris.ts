/** Where the codes of authorizations may go. Registrations, metadata documents and stored clients are all checked here. */
import { isLoopback } from "../../core/hosts.ts";

/** Maximum length of a URI, in characters. */
const MAX_URI = 2_000;

/**
 * What MCP clients in the field register with a scheme of their own that has no dot. The same schemes open other things too,
 * such as files, chats and installers, so the place in the program is a part of the entry. A prefix that does not end in a slash
 * is a whole path.
 */
const PROGRAM_CALLBACKS: readonly string[] = [
  "claude://claude.ai/mcp-auth-callback/",
  "cursor://anysphere.cursor-mcp/",
  "cursor://anysphere.cursor-retrieval/",
  "raycast://oauth",
  "warp://mcp/oauth2callback",
  // Cline, an extension of these editors.
  ...["vscode", "vscode-insiders", "vscodium", "cursor", "windsurf"].map(
    (editor) => `${editor}://saoudrizwan.claude-dev/mcp-auth/callback/`,
  ),
];

/** A reversed domain name (RFC 8252, section 7.1). No label of a top-level domain has a hyphen, so `x-apple.…` is none. */
const REVERSED_DOMAIN = /^[a-z]{2,63}(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+:$/;

/** Why a redirect URI is refused; undefined when it is not. */
export function redirectUriIssue(uri: unknown): string | undefined {
  if (typeof uri !== "string" || uri.length > MAX_URI) return `must be texts of up to ${MAX_URI} characters`;
  // Parsers of URLs disagree about them.
  if (!/^[\x21-\x7e]+$/.test(uri) || uri.includes("\\"))
    return "must consist of ASCII characters without spaces and backslashes";
  const url = URL.parse(uri);
  if (url === null) return "must be absolute URIs";
  if (url.username !== "" || url.password !== "") return "must not contain a user or password";
  if (url.hash !== "" || uri.includes("#")) return "must not contain a fragment";
  if (url.protocol === "https:") return undefined;
  if (url.protocol === "http:")
    return isLoopback(url.hostname) ? undefined : "must be https, except on loopback addresses";
  // Systems open anything else, so it is decided by what is allowed: no list of dangerous schemes is complete.
  if (REVERSED_DOMAIN.test(url.protocol) || isProgramCallback(uri, url)) return undefined;
  return (
    `must be https, http on a loopback address, or a private-use scheme that is a reversed domain name, such as com.example.app: ` +
    `(the scheme ${url.protocol} is accepted from known clients only)`
  );
}

/** Programs may decode a path before they read it, so an escape or a relative segment must not lead out of the prefix. */
function isProgramCallback(uri: string, { href, pathname }: URL): boolean {
  if (uri !== href || pathname.includes("%")) return false;
  const [target] = href.split("?", 1) as [string];
  return PROGRAM_CALLBACKS.some((prefix) =>
    prefix.endsWith("/") ? target.startsWith(prefix) && target.length > prefix.length : target === prefix,
  );
}

/**
 * A client as it was stored, without the redirect URIs that are refused now. One that has none left begins no authorization, and
 * renews the access that it has.
 */
export function withAllowedRedirects<T extends { redirect_uris?: readonly string[] | undefined }>(
  client: T,
): T {
  const allowed = client.redirect_uris?.filter((uri) => redirectUriIssue(uri) === undefined) ?? [];
  return allowed.length > 0
    ? { ...client, redirect_uris: allowed }
    : { ...client, redirect_uris: [], response_types: [], grant_types: ["refresh_token"] };
}
