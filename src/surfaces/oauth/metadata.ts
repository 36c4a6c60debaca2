/** The metadata documents by which clients find the authorization server (RFC 8414) and the resource (RFC 9728). */
import { DEFAULT_SCOPES, Scope } from "../../../schemas/actor.ts";
import { AppError } from "../../core/errors.ts";
import { wellKnownUrl } from "../../core/public-url.ts";

/** The names of the documents below `/.well-known/`. */
export const AUTHORIZATION_SERVER = "oauth-authorization-server";
export const PROTECTED_RESOURCE = "oauth-protected-resource";

/**
 * The refusal of a path at which clients guess a document or an endpoint: it says where the documents are.
 * @param oauth the issuer, and the URL at which clients connect if it is clear; undefined when applications can't sign in
 */
export function noSuchMetadata(
  path: string,
  oauth: { issuer: string; resource: string | undefined } | undefined,
): AppError {
  const of =
    oauth?.resource === undefined
      ? ""
      : `, and that of the MCP server (RFC 9728) at ${wellKnownUrl(PROTECTED_RESOURCE, oauth.resource)}`;
  return new AppError(
    "route_not_found",
    `There is nothing at ${path.slice(0, 200)}. ` +
      (oauth === undefined
        ? "Applications can't sign in here (OAuth is off, or an address is not https): send an API key in X-API-Key."
        : `The metadata of the authorization server (RFC 8414) is at ${wellKnownUrl(AUTHORIZATION_SERVER, oauth.issuer)}${of}.`),
  );
}

/** @param registration whether clients can register themselves */
export const authorizationServerMetadata = (issuer: string, registration: boolean) => ({
  issuer,
  authorization_endpoint: `${issuer}/oauth/authorize`,
  token_endpoint: `${issuer}/oauth/token`,
  ...(registration && { registration_endpoint: `${issuer}/oauth/register` }),
  revocation_endpoint: `${issuer}/oauth/revoke`,
  scopes_supported: Scope.options,
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: ["authorization_code", "refresh_token"],
  code_challenge_methods_supported: ["S256"],
  token_endpoint_auth_methods_supported: ["none"],
  revocation_endpoint_auth_methods_supported: ["none"],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
});

/** Clients ask for the scopes that are named here: those of a new key. A person can grant less. */
export const protectedResourceMetadata = (resource: string, issuer: string) => ({
  resource,
  authorization_servers: [issuer],
  scopes_supported: DEFAULT_SCOPES,
  bearer_methods_supported: ["header"],
  resource_name: "Millrace",
});
