/** Converts the result of a tool to a value for expressions. */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";

/** The structured content, or else the text; other content is described in a line. */
export const toolResultValue = (result: CallToolResult): unknown =>
  result.structuredContent ?? toolResultText(result);

export const toolResultText = (result: CallToolResult): string =>
  (result.content ?? []).map(asText).join("\n");

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
