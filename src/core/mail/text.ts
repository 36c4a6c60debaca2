/** Writes a mail as plain text, with the same content as its HTML. */
import type { MailBlock, MailInline, MailTable } from "./document.ts";
import { isShown } from "./html.ts";

export const mailText = (blocks: readonly MailBlock[]): string => `${blocksText(blocks)}\n`;

const blocksText = (blocks: readonly MailBlock[]): string => blocks.map(blockText).join("\n\n");

/** An item of a list; a list inside it follows its text without a blank line. */
const itemText = (blocks: readonly MailBlock[]): string =>
  blocks
    .map((block, index) => (index === 0 ? "" : block.kind === "list" ? "\n" : "\n\n") + blockText(block))
    .join("");

function blockText(block: MailBlock): string {
  switch (block.kind) {
    case "paragraph":
      return inlineText(block.content);
    case "heading": {
      const text = inlineText(block.content).replaceAll("\n", " ");
      return block.level === 3 ? text : `${text}\n${(block.level === 1 ? "=" : "-").repeat(width(text))}`;
    }
    case "button":
      // Blank lines around the address, because mail programs include adjacent text in a link.
      return `${block.label}:\n\n${block.url}`;
    case "list":
      return block.items
        .map((item, index) => {
          const marker = block.ordered ? `${block.start + index}. ` : "- ";
          return marker + indent(itemText(item), " ".repeat(marker.length)).trimStart();
        })
        .join("\n");
    case "quote":
      return indent(blocksText(block.content), "> ");
    case "lines":
      return block.text;
    case "facts":
      return block.facts.map(([name, value]) => `${name}: ${indent(value, "  ").trimStart()}`).join("\n");
    case "rule":
      return "-".repeat(40);
    case "table":
      return tableText(block);
  }
}

const inlineText = (content: readonly MailInline[]): string => content.map(partText).join("");

function partText(part: MailInline): string {
  if (typeof part === "string") return part;
  switch (part.kind) {
    case "strong":
    case "emphasis":
      return inlineText(part.content);
    case "code":
      return part.text;
    case "break":
      return "\n";
    case "link":
      return isShown(part) ? part.label : `${part.label} (${part.url})`;
  }
}

const indent = (text: string, by: string): string =>
  text
    .split("\n")
    .map((line) => (line === "" ? by.trimEnd() : by + line))
    .join("\n");

/** Number of characters as people count them, or nearly. */
const width = (text: string): number => Array.from(text).length;

function tableText({ title, columns, rows, numeric = [], note }: MailTable): string {
  const lines = [columns, ...rows].map((row) => row.map((cell) => cell.replaceAll(/\s+/g, " ")));
  const widths = columns.map((_, index) => Math.max(...lines.map((row) => width(row[index]!))));
  const lineOf = (row: readonly string[]): string =>
    row
      .map((cell, index) => {
        const padding = " ".repeat(widths[index]! - width(cell));
        return numeric[index] === true ? padding + cell : cell + padding;
      })
      .join("  ")
      .trimEnd();
  const [head, ...body] = lines;
  return [
    ...(title === undefined ? [] : [title, ""]),
    lineOf(head!),
    widths.map((count) => "-".repeat(count)).join("  "),
    ...body.map(lineOf),
    ...(note === undefined ? [] : ["", note]),
  ].join("\n");
}
