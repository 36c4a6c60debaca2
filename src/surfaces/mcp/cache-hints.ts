/**
 * How long clients of 2026-07-28 may keep answers. Every answer is for its caller alone (`private`, the default of the SDK), the
 * guide too: what a caller gets depends on its scopes and on what its key is limited to, which a shared cache would not check.
 * The SDK leaves the hints out of answers of earlier revisions, which have no such fields.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
import type { ServerContext, ServerOptions } from "@modelcontextprotocol/server";
import { HOUR, MINUTE } from "../../core/clock.ts";
import type { ResourceKind } from "./resource-kinds.ts";

/** What changes only with the release and with the rights of a caller. */
const FIXED = { ttlMs: 5 * MINUTE };

/**
 * The hints by method. `resources/list` has none, because it has the newest runs and their statuses, and a client expects there
 * what it has just started.
 */
export const CACHE_HINTS: NonNullable<ServerOptions["cacheHints"]> = {
  "server/discover": FIXED,
  "prompts/list": FIXED,
  "resources/templates/list": FIXED,
  // Workflows become tools. Clients that listen are notified and fetch the list again; to others it may be news for this long.
  "tools/list": { ttlMs: MINUTE },
};

/** Resources that change only with the release; all others change with runs and workflows, and get no hint. */
const FIXED_RESOURCE_TTL_MS = HOUR;

/** The hint of a read, as fields of its result; none for earlier revisions, whose clients may refuse unknown fields. */
export const readHint = ({ mcpReq }: ServerContext, { fixed }: Pick<ResourceKind, "fixed">) =>
  fixed === true && mcpReq.envelope !== undefined
    ? { ttlMs: FIXED_RESOURCE_TTL_MS, cacheScope: "private" as const }
    : {};
