/** Converts the result of a tool to a value for expressions. */
import type { CallToolResult } from "@modelcontextprotocol/client";

/** The structured content, or else the text. */
export const toolResultValue = (result: CallToolResult): unknown =>
  result.structuredContent ?? toolResultText(result);

export const toolResultText = (result: CallToolResult): string =>
  result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");

/**
 * The text of content as servers send it; content that is no text is described in a line.
 * @param content blocks; a single one, or a text, if the server does not send a list
 */
export const contentText = (content: unknown): string =>
  (Array.isArray(content) ? content : [content ?? []].flat()).map(asText).join("\n");

function asText(block: unknown): string {
  if (typeof block === "string") return block;
  const { type, resource, ...fields } = (block ?? {}) as Readonly<Record<string, unknown>>;
  const text = (name: string): string => textOf(fields[name]);
  switch (type) {
    case "text":
      return writtenText(fields["text"]);
    case "image":
    case "audio":
      return `[${type}, ${text("mimeType")}, ${Math.floor((text("data").length * 3) / 4)} bytes]`;
    case "resource_link":
      return text("name") === "" ? `[${text("uri")}]` : `[${text("name")}: ${text("uri")}]`;
    case "resource": {
      const inner = (resource ?? {}) as Readonly<Record<string, unknown>>;
      return typeof inner["text"] === "string" ? inner["text"] : `[resource: ${textOf(inner["uri"])}]`;
    }
    default:
      return typeof type === "string"
        ? `[content of an unknown type: ${type.slice(0, 100)}]`
        : "[content of an unknown type]";
  }
}

/** The text of a block. A value of another type is its JSON. */
function writtenText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "[text block without text]" : JSON.stringify(value);
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
