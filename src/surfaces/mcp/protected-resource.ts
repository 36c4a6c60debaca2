/** How clients without a key learn where to get a token: metadata of the resource (RFC 9728), and the challenge that names it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { DEFAULT_SCOPES } from "../../../schemas/actor.ts";
import { AppError } from "../../core/errors.ts";
import type { McpResources } from "../../core/mcp-resource.ts";
import { MCP_PATHS } from "../../core/mcp-resource.ts";
import { wellKnownUrl } from "../../core/public-url.ts";
import { PROTECTED_RESOURCE, protectedResourceMetadata } from "../oauth/metadata.ts";
import { InsufficientScope } from "./step-up.ts";

const WELL_KNOWN = `/.well-known/${PROTECTED_RESOURCE}`;
/** The paths that have a metadata document: the server, and each transport. */
const RESOURCE_PATHS: readonly string[] = ["", ...MCP_PATHS];

export interface ProtectedResourceOptions {
  resources: McpResources;
  /** The path in front of those of this server in its public URL; empty for none. */
  pathPrefix: string;
  /** The base URL of the web server, which is the authorization server. */
  issuer: () => Promise<string>;
}

export interface ProtectedResource {
  /** The paths of the metadata documents, with the path at which clients connect. */
  paths: ReadonlyMap<string, string>;
  /** @param path at which the client connects; empty for the whole server */
  sendMetadata(req: IncomingMessage, res: ServerResponse, path: string): Promise<void>;
  /** The URL of this server that tokens must be for; undefined if it is not clear. */
  baseOf(req: IncomingMessage): string | undefined;
  /** The authorization server and the resource, for clients that look for their metadata elsewhere. */
  locate(req: IncomingMessage): Promise<{ issuer: string; resource: string | undefined }>;
  /** Adds to a refusal where the client gets a token, or one with more scopes. @param path at which the client connects */
  withChallenge(error: unknown, req: IncomingMessage, path: string): unknown;
}

/** A client with a key needs no token. Some would drop the key if they found that there are tokens. */
const isOffered = ({ headers }: IncomingMessage): boolean => headers["x-api-key"] === undefined;

export function protectedResource({
  resources,
  issuer,
  pathPrefix,
}: ProtectedResourceOptions): ProtectedResource {
  const baseOf = ({ headers, socket }: IncomingMessage): string | undefined =>
    resources.baseOf(headers.host ?? "", socket.localPort);
  return {
    // Also below the prefix, for proxies that pass on nothing else.
    paths: new Map(
      ["", pathPrefix].flatMap((prefix) =>
        RESOURCE_PATHS.map((path): [string, string] => [WELL_KNOWN + prefix + path, path]),
      ),
    ),
    baseOf,

    async locate(req) {
      const base = baseOf(req);
      return { issuer: await issuer(), resource: base && `${base}/mcp` };
    },

    async sendMetadata(req, res, path) {
      const base = isOffered(req) ? baseOf(req) : undefined;
      if (base === undefined)
        throw new AppError(
          "route_not_found",
          "There is no authorization for this address. Send an API key, or set MILLRACE_MCP_URL to the address of this server.",
        );
      const resource = base + path;
      const body = JSON.stringify(protectedResourceMetadata(resource, await issuer()));
      res.writeHead(200, {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(body),
        "Cache-Control": "no-store",
      });
      res.end(body);
    },

    withChallenge(error, req, path) {
      const isUnauthorized = error instanceof AppError && error.code === "unauthorized" && isOffered(req);
      if (!isUnauthorized && !(error instanceof InsufficientScope)) return error;
      const base = baseOf(req);
      if (base === undefined) return error;
      const challenge = (code: string | undefined, scopes: readonly string[]) => ({
        "WWW-Authenticate": [
          'Bearer realm="millrace"',
          ...(code === undefined ? [] : [`error="${code}"`]),
          `resource_metadata="${wellKnownUrl(PROTECTED_RESOURCE, base)}${RESOURCE_PATHS.includes(path) ? path : "/sse"}"`,
          `scope="${scopes.join(" ")}"`,
        ].join(", "),
      });
      if (error instanceof InsufficientScope)
        return new AppError(error.code, error.message, {
          ...error.details,
          headers: challenge("insufficient_scope", error.scopes),
        });
      // A request without a token has no error (RFC 6750, section 3).
      const code = req.headers.authorization === undefined ? undefined : "invalid_token";
      return new AppError(
        "unauthorized",
        `${error.message} Clients that support OAuth can sign in instead.`,
        { headers: challenge(code, DEFAULT_SCOPES) },
      );
    },
  };
}
