import { isServedOn } from "../../src/core/tool.ts";

/** The names of the tools over MCP that are no workflows. */
export async function reservedToolNames(): Promise<ReadonlySet<string>> {
  // Loaded on demand, because the catalogue contains the operations that use this.
  const { catalogue } = await import("../index.ts");
  return new Set(catalogue.filter((tool) => isServedOn(tool, "mcp")).map(({ name }) => name));
}
