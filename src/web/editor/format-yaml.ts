/** Writes the text of a definition in its canonical form, that of generated YAML, with its comments. */
import { isMap, isScalar, parseDocument, type Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import { type Level, rankOfKey } from "../../../schemas/definition-order.ts";
import { isEqualJson } from "../../../schemas/json-diff.ts";
import { YAML_OPTIONS } from "../../../schemas/patch-document.ts";
import {
  contentEnd,
  divide,
  type Entry,
  isBlock,
  isBlockScalar,
  lineStart,
  nextLine,
} from "../../../schemas/yaml-lines.ts";
import { renderKey, renderYaml } from "../../../schemas/yaml-render.ts";
import { parseYaml } from "./yaml-text.ts";

/** Number of spaces for each level. */
const INDENT = 2;

/**
 * Returns the text in its canonical form. Comments inside of `{ }` and `[ ]` stay as they are, with what is around them.
 * @returns undefined for a text that can't be written otherwise: with a syntax error, or with aliases
 */
export function formatYaml(text: string): string | undefined {
  const plain = text.replaceAll("\r\n", "\n").replace(/^\uFEFF/, "");
  const said = parseYaml(plain);
  const { contents } = parseDocument(plain, YAML_OPTIONS);
  if ("issues" in said || !isBlock(contents) || !isMap(contents) || contents.items.length === 0)
    return undefined;
  try {
    const start = contents.range[0];
    const header = comments(plain.slice(0, start), 0);
    const body = formatBlock(plain, contents, said.value, [start, plain.length], { column: 0, level: "top" });
    const formatted = header + body.above + body.text;
    const read = parseYaml(formatted);
    return "value" in read && isEqualJson(read.value, said.value) ? formatted : undefined;
  } catch {
    return undefined;
  }
}

interface Place {
  column: number;
  level?: Level | "steps" | undefined;
}

/** @returns the entries, without the comments above the first one, which an item of a list has above its dash */
function formatBlock(
  text: string,
  node: YAMLMap | YAMLSeq,
  value: unknown,
  [start, end]: readonly [number, number],
  { column, level }: Place,
): { above: string; text: string } {
  const block = divide(text, node, start, end);
  const rank = level === "top" || level === "step" ? level : undefined;
  const entries =
    rank === undefined
      ? block.entries
      : block.entries.toSorted((a, b) => rankOfKey(rank, a.key) - rankOfKey(rank, b.key));
  const parts = entries.map((entry) =>
    formatEntry(text, entry, (value as Record<string, unknown>)[entry.key], { column, level }),
  );
  const [first, ...others] = parts;
  const rest = others.map((part) => part.above + part.text).join("");
  const tail = comments(text.slice(block.end, end), column);
  return { above: first!.above.replace(/^\n+/, ""), text: first!.text + rest + tail };
}

function formatEntry(
  text: string,
  { key, keyRange, value: node, at, start, end }: Entry,
  value: unknown,
  { column, level }: Place,
): { above: string; text: string } {
  const pad = " ".repeat(column);
  const from = keyRange?.[1] ?? at + 1;
  const above = comments(text.slice(start, Math.max(start, lineStart(text, at))), column);
  const inside = column + INDENT;
  const name = keyRange === undefined ? "-" : `${renderKey(key)}:`;
  if (isBlock(node) && node.items.length > 0) {
    const isBehind = !text.slice(from, node.range![0]).includes("\n");
    const childStart = isBehind ? node.range![0] : nextLine(text, from);
    const child = formatBlock(text, node, value, [childStart, end], {
      column: inside,
      level: levelOf(level, keyRange && key),
    });
    const comment = isBehind ? "" : inlineComment(text.slice(from, childStart));
    if (keyRange !== undefined)
      return { above, text: `${pad}${name}${comment}\n${child.above}${child.text}` };
    const own = comment === "" ? "" : `${pad}${comment.trim()}\n`;
    const raised = child.above === "" ? "" : comments(child.above, column);
    return { above: above + own + raised, text: `${pad}- ${child.text.slice(inside)}` };
  }
  const valueEnd = Math.max(contentEnd(node), from);
  const rest = text[valueEnd - 1] === "\n" ? valueEnd : nextLine(text, valueEnd);
  const tail = comments(text.slice(Math.min(rest, end), end), inside);
  const source = text.slice(from, valueEnd);
  // The comments in a flow collection of several lines have no place in the canonical form.
  if (!isBlockScalar(node) && /\n[^]*#|#[^]*\n/.test(source))
    return { above, text: `${pad}${text.slice(at, rest)}${tail}` };
  const whole = keyRange === undefined ? [value] : { [key]: value };
  const lines = hasDigits(node)
    ? [`${pad}${name} ${node.source}`]
    : renderYaml(whole)
        .replaceAll(/^(?=.)/gmu, pad)
        .slice(0, -1)
        .split("\n");
  const comment = inlineComment(isBlockScalar(node) ? source.split("\n")[0]! : text.slice(valueEnd, rest));
  const isOneStep = keyRange === undefined && lines.length > 1 && !/[|>][-+\d]*$/.test(lines[0]!);
  if (comment === "" || !isOneStep) lines[0] += comment;
  return {
    above: comment !== "" && isOneStep ? `${above}${pad}${comment.trim()}\n` : above,
    text: `${lines.join("\n")}\n${tail}`,
  };
}

/** Whether a scalar is a number, whose digits stay. */
const hasDigits = (node: unknown): node is Scalar & { source: string } =>
  isScalar(node) && typeof node.value === "number" && node.source !== undefined && node.anchor === undefined;

function levelOf(level: Place["level"], key: string | undefined): Place["level"] {
  if (level === "top") return key === "steps" ? "steps" : undefined;
  return level === "steps" ? "step" : undefined;
}

/** A comment behind a key or a value, after a space; "" for none. */
function inlineComment(source: string): string {
  const comment = /(?:^|\s)(#.*)/.exec(source)?.[1];
  return comment === undefined ? "" : ` ${comment.trimEnd()}`;
}

/** The comments of some lines, in a column, with at most one blank line between them. */
function comments(source: string, column: number): string {
  const lines = source
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => (line.trim() === "" ? "" : " ".repeat(column) + line.trim()));
  return source === ""
    ? ""
    : lines
        .filter((line, index) => line !== "" || lines[index - 1] !== "")
        .map((line) => `${line}\n`)
        .join("");
}
