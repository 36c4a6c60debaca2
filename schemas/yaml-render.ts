/** Writes JSON values as YAML for people: texts with a meaning in YAML between quotes, long ones as blocks. */
import { Document, isScalar, type Node, Scalar, visit } from "yaml";
import { escapeUnprintable, needsQuotes } from "./yaml-text.ts";

const OPTIONS = { version: "1.2", schema: "core", aliasDuplicateObjects: false } as const;

/** How a text that is changed is indented. */
export interface Style {
  /** Number of spaces for each level. */
  indent: number;
  /** Whether lists are indented below their key. */
  indentSeq: boolean;
}

/** Chooses how each text below a node is written. */
export function styleTexts(node: Document | Node): void {
  visit(node, {
    Scalar(key, scalar) {
      if (typeof scalar.value !== "string") return;
      if (needsQuotes(scalar.value)) scalar.type = Scalar.QUOTE_DOUBLE;
      else if (key !== "key" && scalar.value.includes("\n") && /\S/.test(scalar.value))
        scalar.type = Scalar.BLOCK_LITERAL;
    },
  });
}

/** @returns YAML 1.2 text that ends with a newline */
export function renderYaml(value: unknown, style: Partial<Style> = {}): string {
  const document = new Document(value, OPTIONS);
  styleTexts(document);
  return write(document, style);
}

const write = (document: Document, style: Partial<Style> = {}): string =>
  escapeUnprintable(document.toString({ lineWidth: 0, minContentWidth: 0, ...style }));

/** @returns the key as it is written before a colon */
export const renderKey = (key: string): string => renderYaml({ [key]: 0 }).slice(0, -": 0\n".length);

/**
 * A value in one line; undefined for one that has several.
 * @param type how the text is written that it replaces: its quotes are kept
 */
export function renderInline(value: unknown, type?: Scalar.Type): string | undefined {
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0) return undefined;
  const document = new Document({ a: value }, OPTIONS);
  styleTexts(document);
  const scalar = document.get("a", true);
  const isQuoted = type === Scalar.QUOTE_SINGLE || type === Scalar.QUOTE_DOUBLE;
  if (isQuoted && isScalar(scalar) && typeof value === "string" && scalar.type === undefined)
    scalar.type = type;
  const text = write(document).slice("a:".length, -1).trimStart();
  return text.includes("\n") ? undefined : text;
}
