/** Who acts, and through what: recorded with every accepted change. */
import { z } from "zod";

/** What a key may do. `read` is part of every other. */
export const Scope = z.enum(["read", "write", "run", "approve", "admin"]).meta({
  description: "What a key may do: read (part of every other), write, run, approve, admin.",
  example: "read",
});
export type Scope = z.infer<typeof Scope>;

/** The scopes of a key for which none were chosen. */
export const DEFAULT_SCOPES: readonly Scope[] = ["read", "write", "run"];

export const Surface = z.enum(["rest", "mcp", "cli"]).meta({
  description: "The way in: the REST API, MCP, or the command line.",
  example: "mcp",
});
export type Surface = z.infer<typeof Surface>;
