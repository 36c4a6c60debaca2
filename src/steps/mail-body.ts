/** The bodies of a mail of an email step: HTML and plain text with equal content, from one text and tables of rows. */
import type { Token, Tokens } from "marked";
import { type MailBlock, type MailInline, paragraph, renderMail } from "../core/mail/document.ts";
import { mailTable } from "../core/mail/table.ts";
import { StepError } from "../core/step-errors.ts";
import { assertWellFormed } from "../core/well-formed.ts";

/** Maximum length of a text in Markdown, in characters. The parser needs a second for the worst text of this length. */
const MAX_MARKDOWN = 20_000;
/** A line with nothing but the name of a table, which takes its place. */
const PLACE = /^[ \t]*\[\[([a-z][a-z0-9_]{0,63})\]\][ \t]*$/m;

interface BodyTable {
  rows: readonly unknown[];
  title?: string | undefined;
  columns?: readonly string[] | undefined;
  max_rows?: number | undefined;
}

interface Body {
  subject: string;
  text: string;
  format: "text" | "markdown";
  tables: Readonly<Record<string, BodyTable>>;
}

/** @throws StepError input_invalid for Markdown that is too long or nested too deeply, and for half of a surrogate pair in a cell */
export async function mailBody({
  subject,
  text,
  format,
  tables,
}: Body): Promise<{ text: string; html: string }> {
  const toBlocks = format === "markdown" ? await markdownReader(text) : plainBlocks;
  const left = new Map(Object.entries(tables));
  const blocks: MailBlock[] = [];
  const addTable = (name: string): void => {
    const { max_rows: maxRows, rows, ...table } = left.get(name)!;
    left.delete(name);
    const made = mailTable(rows, { ...table, maxRows });
    for (const cells of [made.columns, ...made.rows])
      for (const cell of cells) assertWellFormed(`A cell of the table "${name}"`, cell);
    blocks.push(made);
  };
  // Odd parts are the names of places.
  for (const [index, part] of text.split(PLACE).entries()) {
    if (index % 2 === 0) blocks.push(...toBlocks(part));
    else if (left.has(part)) addTable(part);
    else blocks.push(paragraph(`[[${part}]]`));
  }
  for (const name of left.keys()) addTable(name);
  const { html, text: plain } = renderMail({ subject, blocks });
  return { html, text: plain };
}

/** The names of the places for tables in a text. */
export const placesIn = (text: string): string[] =>
  [...text.matchAll(new RegExp(PLACE.source, "gm"))].map((match) => match[1]!);

const plainBlocks = (text: string): MailBlock[] =>
  text
    .split(/\n[ \t]*\n/)
    .map((part) => part.replace(/^\n+|\s+$/g, ""))
    .filter((part) => part !== "")
    .map(paragraph);

async function markdownReader(whole: string): Promise<(text: string) => MailBlock[]> {
  if (whole.length > MAX_MARKDOWN)
    throw new StepError(
      "input_invalid",
      `The text has ${whole.length} characters; at most ${MAX_MARKDOWN} are allowed with format: markdown.`,
      { fix: "Attach what is long as a file, or send it as plain text." },
    );
  const { lexer } = await import("marked");
  return (text) => {
    try {
      return blocksOf(lexer(text, { gfm: true }));
    } catch (cause) {
      // Thousands of nested quotes or lists.
      if (!(cause instanceof RangeError)) throw cause;
      throw new StepError("input_invalid", "The Markdown of the text is nested too deeply.", { cause });
    }
  };
}

const blocksOf = (tokens: readonly Token[]): MailBlock[] => tokens.flatMap(blockOf);

function blockOf(token: Token): MailBlock[] {
  switch (token.type) {
    case "heading": {
      const { depth, tokens } = token as Tokens.Heading;
      return [{ kind: "heading", level: Math.min(depth, 3) as 1 | 2 | 3, content: inlineOf(tokens) }];
    }
    case "paragraph":
      return [{ kind: "paragraph", content: inlineOf((token as Tokens.Paragraph).tokens) }];
    case "text": {
      const { tokens, text } = token as Tokens.Text;
      return [{ kind: "paragraph", content: tokens === undefined ? [unescaped(text)] : inlineOf(tokens) }];
    }
    case "list": {
      const { ordered, start, items } = token as Tokens.List;
      const from = typeof start === "number" ? start : 1;
      return [{ kind: "list", ordered, start: from, items: items.map((item) => blocksOf(item.tokens)) }];
    }
    case "blockquote":
      return [{ kind: "quote", content: blocksOf((token as Tokens.Blockquote).tokens) }];
    case "code":
      return [{ kind: "lines", text: (token as Tokens.Code).text }];
    case "hr":
      return [{ kind: "rule" }];
    case "table":
      return [tableOf(token as Tokens.Table)];
    case "space":
    case "def":
      return [];
    default:
      // HTML, and whatever a later release adds: as it is written, so it can hide or load nothing.
      return [paragraph(token.raw.trimEnd())];
  }
}

const cellOf = ({ tokens }: Tokens.TableCell): string => inlineText(inlineOf(tokens));

function tableOf({ header, rows, align }: Tokens.Table): MailBlock {
  return {
    kind: "table",
    columns: header.map(cellOf),
    rows: rows.map((row) => row.map(cellOf)),
    numeric: align.map((side) => side === "right"),
  };
}

const inlineOf = (tokens: readonly Token[]): MailInline[] => tokens.map(partOf);

function partOf(token: Token): MailInline {
  switch (token.type) {
    case "strong":
      return { kind: "strong", content: inlineOf((token as Tokens.Strong).tokens) };
    case "em":
      return { kind: "emphasis", content: inlineOf((token as Tokens.Em).tokens) };
    case "codespan":
      return { kind: "code", text: (token as Tokens.Codespan).text };
    case "br":
      return { kind: "break" };
    case "link": {
      const { href, text, tokens } = token as Tokens.Link;
      const label = inlineText(inlineOf(tokens)) || text;
      return isSafe(href) ? { kind: "link", url: href, label } : `${label} (${href})`;
    }
    // No image is loaded: opening a mail must tell nobody.
    case "image": {
      const { href, text } = token as Tokens.Image;
      return isSafe(href) ? { kind: "link", url: href, label: text || "Image" } : `${text} (${href})`;
    }
    case "text":
    case "escape":
      return unescaped((token as Tokens.Text).text);
    default:
      return token.raw;
  }
}

const inlineText = (content: readonly MailInline[]): string =>
  content
    .map((part) => {
      if (typeof part === "string") return part;
      if (part.kind === "break") return " ";
      if (part.kind === "code") return part.text;
      return part.kind === "link"
        ? part.label === part.url
          ? part.url
          : `${part.label} (${part.url})`
        : inlineText(part.content);
    })
    .join("");

/** Links of a mail lead to web pages and addresses, never to scripts or files. */
const isSafe = (href: string): boolean => /^(?:https?:\/\/|mailto:)[^\s<>"]+$/i.test(href);

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": "\u00A0",
};
/** Markdown allows the entities of HTML in its text. */
const unescaped = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES[entity]!);
