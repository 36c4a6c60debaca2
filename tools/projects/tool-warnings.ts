/** Warns of tools of a grant that the MCP server does not have. */
import type { Issue } from "../../schemas/problem.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import { StepError } from "../../src/core/step-errors.ts";
import { callContextOf, type ToolContext } from "../../src/core/tool.ts";

/** Maximum number of tools that a warning lists. */
const MAX_LISTED = 50;

/**
 * The warnings of the tools that a grant names. They prevent nothing, because a server can get a tool later.
 * @param server a configured one
 */
export async function toolWarnings(
  ctx: Pick<ToolContext, "actor" | "engine" | "signal">,
  server: string,
  tools: readonly string[],
): Promise<Issue[]> {
  if (tools.length === 0) return [];
  let names: string[];
  try {
    const listed = await ctx.engine.configured.mcpServers.tools(server, callContextOf(ctx));
    names = listed.map(({ name }) => name);
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    return [
      {
        path: "tools",
        code: "not_checked",
        message: `could not be compared with the tools of ${server}: ${error.message}`,
        fix: `Check the names. When ${server} answers, grant it again to compare them.`,
      },
    ];
  }
  return tools.flatMap((tool, index) => {
    if (names.includes(tool)) return [];
    const near = nearMatch(tool, names);
    return [
      {
        path: `tools[${index}]`,
        code: "not_found",
        message: `is not a tool that ${server} lists now, got ${tool}`,
        ...(near === undefined ? { allowed: names.slice(0, MAX_LISTED) } : { did_you_mean: near }),
        fix:
          near === undefined
            ? "Check its name: until the server has such a tool, the grant of it has no effect."
            : `Write ${near}, if that is meant, and grant it again with all its tools.`,
      },
    ];
  });
}
