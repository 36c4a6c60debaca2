/** What a client may register about itself, and how the consent page calls it. */
import { errors } from "oidc-provider";
import { removeHiddenCharacters } from "../../../schemas/hidden-characters.ts";
import { isLoopback } from "../../core/hosts.ts";
import { redirectUriIssue } from "./redirect-uris.ts";

/** Maximum number of redirect URIs of a client. */
const MAX_REDIRECT_URIS = 10;
/** Maximum length of a client's name, in characters. */
const MAX_NAME = 80;

const GRANT_TYPES = ["authorization_code", "refresh_token"];

/**
 * Reduces a registration (RFC 7591) to what is used here. All clients are public: they prove themselves with PKCE, so there
 * is no secret to store. Nothing of it is fetched, and no other site's picture is shown.
 * @throws errors.InvalidClientMetadata, errors.InvalidRedirectUri
 */
export function reduceRegistration(body: unknown): Record<string, unknown> {
  const given = typeof body === "object" && body !== null && !Array.isArray(body) ? body : {};
  const { redirect_uris: uris, client_name: name, grant_types: grants } = given as Record<string, unknown>;
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECT_URIS)
    throw new errors.InvalidClientMetadata(`redirect_uris must be a list of 1 to ${MAX_REDIRECT_URIS} URIs`);
  for (const uri of uris) {
    const issue = redirectUriIssue(uri);
    if (issue !== undefined) throw new errors.InvalidClientMetadata(`redirect_uris: ${issue}`);
  }
  return {
    redirect_uris: uris,
    ...(typeof name === "string" && { client_name: displayName(name) }),
    grant_types: Array.isArray(grants) ? GRANT_TYPES.filter((type) => grants.includes(type)) : GRANT_TYPES,
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    // Loopback redirects with any port, and schemes of programs; no http to other hosts.
    application_type: "native",
  };
}

/** A name as it is shown: one line without hidden characters. It says nothing about who the client is. */
export function displayName(name: string): string {
  const clean = removeHiddenCharacters(name, "line").replace(/\s+/g, " ").trim();
  // Cut between code points.
  return Array.from(clean).slice(0, MAX_NAME).join("") || "An application without a name";
}

/** Where a client is, as far as its redirect URI proves it. */
export interface ClientPlace {
  /** `web`: a site, by https. `local`: a program on the person's machine. `app`: a program that opens links of a scheme. */
  kind: "web" | "local" | "app";
  /** The host of the site, the loopback host, or the scheme with its colon. */
  host: string;
}

/** Where the code of an authorization goes. @param redirectUri a registered one */
export function placeOf(redirectUri: string): ClientPlace {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol !== "https:" && protocol !== "http:") return { kind: "app", host: protocol };
  return isLoopback(hostname) ? { kind: "local", host: hostname } : { kind: "web", host };
}
