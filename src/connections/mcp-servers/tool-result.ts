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
 * @param value JSON that is not nested deeply, because this recurses
 * @returns its path; undefined if there is none
 */
export function findInexactInteger(value: unknown): readonly PropertyKey[] | undefined {
  if (typeof value === "number") return mayHaveLostDigits(value) ? [] : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const path = findInexactInteger(inner);
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}

function mayHaveLostDigits(value: number): boolean {
  const size = Math.abs(value);
  return Number.isInteger(value) && size > Number.MAX_SAFE_INTEGER && size < MAX_INTEGER;
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
