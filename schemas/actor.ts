/** The scopes of an actor and the surface that a request came through. */
import { z } from "zod";

export const Scope = z.enum(["read", "write", "publish", "run", "approve", "admin"]).meta({
  description: "A permission: read (included in every other), write, publish, run, approve or admin.",
  example: "read",
});
export type Scope = z.infer<typeof Scope>;

/** The owner of keys that the command line creates, and of the changes that it makes. It is not a user. */
export const OPERATOR = "operator";

/** The key id of the command line, which works on the state directory without a key. */
export const COMMAND_LINE = "command-line";

/** The scopes of a new key when none are given. */
export const DEFAULT_SCOPES: readonly Scope[] = ["read", "write", "publish", "run"];

export const Surface = z.enum(["rest", "mcp", "cli", "web"]).meta({
  description: "What the request came through: the REST API, MCP, the command line or the web interface.",
  example: "mcp",
});
export type Surface = z.infer<typeof Surface>;
