/** Who acts, and through what: recorded with every accepted change. */
import { z } from "zod";

/** What a key may do. `read` is part of every other. */
export const Scope = z.enum(["read", "write", "run", "approve", "admin"]).meta({
  description: "What a key may do: read (part of every other), write, run, approve, admin.",
  example: "read",
});
export type Scope = z.infer<typeof Scope>;

/** Whose the keys are that were made on the command line, and what is done there: no user. */
export const OPERATOR = "operator";

/** In place of the key of whoever is at the command line, on the state directory itself. */
export const COMMAND_LINE = "command-line";

/** The scopes of a key for which none were chosen. */
export const DEFAULT_SCOPES: readonly Scope[] = ["read", "write", "run"];

export const Surface = z.enum(["rest", "mcp", "cli", "web"]).meta({
  description: "The way in: the REST API, MCP, the command line, or the web interface.",
  example: "mcp",
});
export type Surface = z.infer<typeof Surface>;
