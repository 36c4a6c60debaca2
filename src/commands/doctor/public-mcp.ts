/** Checks that clients reach the MCP server at its public URL. */
import type { Settings } from "../../config/environment.ts";
import { mcpBase } from "../../core/mcp-resource.ts";
import { checkMcpUrl, missingMcpUrl } from "../../core/public-mcp.ts";
import { type CheckResult, checkResultsOf } from "./check-result.ts";

const { ok, warning } = checkResultsOf("Addresses");
const CHECK = "MCP URL";

/** @param send `fetch`, with the proxies of the settings */
export async function checkPublicMcp(
  settings: Pick<Settings, "baseUrl" | "mcpUrl">,
  send: typeof fetch,
): Promise<CheckResult[]> {
  const missing = missingMcpUrl(settings);
  if (missing !== undefined) return [warning(CHECK, missing.detail, missing.fix)];
  if (settings.mcpUrl === undefined) return [];
  const { status, detail, fix } = await checkMcpUrl(mcpBase(settings.mcpUrl), send);
  return [status === "warning" ? warning(CHECK, detail, fix!) : ok(CHECK, detail)];
}
