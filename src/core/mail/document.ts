/**
 * A mail as data: one document, from which the HTML and the plain text are written with equal content. Every mail of the service
 * is one, so none writes HTML itself.
 */
import { mailHtml } from "./html.ts";
import { mailText } from "./text.ts";

/** A part of a line. */
export type MailInline =
  | string
  | { kind: "strong" | "emphasis"; content: readonly MailInline[] }
  | { kind: "code"; text: string }
  | { kind: "break" }
  /** The address is always shown too, so that no text can hide where a link leads. */
  | { kind: "link"; url: string; label: string };

export interface MailTable {
  kind: "table";
  title?: string | undefined;
  columns: readonly string[];
  /** As many cells a row as there are columns. */
  rows: readonly (readonly string[])[];
  /** The columns of numbers, which are aligned to the right. */
  numeric?: readonly boolean[] | undefined;
  /** What was left out, in words. */
  note?: string | undefined;
}

export type MailBlock =
  | { kind: "paragraph"; content: readonly MailInline[] }
  | { kind: "heading"; level: 1 | 2 | 3; content: readonly MailInline[] }
  | { kind: "button"; label: string; url: string }
  | { kind: "list"; ordered: boolean; start: number; items: readonly (readonly MailBlock[])[] }
  | { kind: "quote"; content: readonly MailBlock[] }
  /** Lines as they are written. */
  | { kind: "lines"; text: string }
  /** Names with their values. */
  | { kind: "facts"; facts: readonly (readonly [name: string, value: string])[] }
  | { kind: "rule" }
  | MailTable;

export interface MailDocument {
  subject: string;
  blocks: readonly MailBlock[];
}

/** A paragraph of plain text. */
export const paragraph = (text: string): MailBlock => ({ kind: "paragraph", content: [text] });

/** Writes both bodies of a mail. */
export const renderMail = (document: MailDocument): { subject: string; text: string; html: string } => ({
  subject: document.subject,
  text: mailText(document.blocks),
  html: mailHtml(document),
});
