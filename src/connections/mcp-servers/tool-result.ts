/** Converts the result of a tool to a value for expressions. */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";

/** The structured content, or else the text; other content is described in a line. */
export const toolResultValue = (result: CallToolResult): unknown =>
  result.structuredContent ?? toolResultText(result);

export const toolResultText = (result: CallToolResult): string =>
  (result.content ?? []).map(asText).join("\n");

/** Integers of common systems end here: an unsigned one of 64 bits. */
const MAX_INTEGER = 2 ** 64;

/**
 * Finds an integer that may have lost digits: the SDK has parsed it as a number. A larger one is taken for a measurement.
 * @returns its path; undefined if there is none
 */
export function findInexactInteger(value: unknown): readonly PropertyKey[] | undefined {
  const queue: { value: unknown; path: readonly PropertyKey[] }[] = [{ value, path: [] }];
  // The list grows while it is walked.
  for (const { value: inner, path } of queue) {
    if (typeof inner === "number" && Number.isInteger(inner)) {
      const size = Math.abs(inner);
      if (size > Number.MAX_SAFE_INTEGER && size < MAX_INTEGER) return path;
    } else if (typeof inner === "object" && inner !== null) {
      for (const [key, item] of Object.entries(inner))
        if (typeof item === "number" || typeof item === "object")
          queue.push({ value: item, path: [...path, Array.isArray(inner) ? Number(key) : key] });
    }
  }
  return undefined;
}

function asText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type}, ${block.mimeType}, ${Math.floor((block.data.length * 3) / 4)} bytes]`;
    case "resource_link":
      return `[${block.name}: ${block.uri}]`;
    case "resource":
      return "text" in block.resource ? block.resource.text : `[resource: ${block.resource.uri}]`;
    default:
      return "[content of an unknown type]";
  }
}
