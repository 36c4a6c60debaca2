/** Reads plain scalars of YAML as JSON has them: numbers with all digits, and keys as they are written. */
import { type Document, isAlias, isNode, type Scalar, visit } from "yaml";
import { readYamlNumber } from "../../../../schemas/yaml-numbers.ts";
import { MAX_ADDED_CHARS } from "../../../core/json-scan.ts";
import { offsetOf, pathOf, type YamlValueIssue } from "./yaml-values.ts";

/** Maximum number of reported warnings. */
const MAX_WARNINGS = 100;
/** Maximum number of characters of a value that a message shows. */
const MAX_SHOWN = 60;

/** A scalar that is read as another value than its text says, if its text was meant. */
export interface MisreadScalar extends YamlValueIssue {
  /** The scalar as it is written. */
  text: string;
  /** Whether aliases may refer to it: a patch would reach one of its places in the value only. */
  isShared: boolean;
}

/**
 * Replaces the values that JavaScript numbers don't hold by long numbers, and each key by its text (`01067: …` is no number).
 * Infinity, numbers that are too long, and those whose digits would make the text more than twice as long stay for `yamlValueIssues`.
 * @param document it is changed
 * @returns the values that may have been meant as text
 */
export function readScalars(document: Document): MisreadScalar[] {
  const misread: MisreadScalar[] = [];
  /** Number of characters that long numbers may have beyond those that are written. */
  let addable = (document.range?.[2] ?? 0) + MAX_ADDED_CHARS;
  visit(document, {
    Scalar(key, node, ancestors) {
      const { source } = node;
      if (source === undefined || source === "" || typeof node.value === "symbol") return;
      if (key === "key") {
        if (typeof node.value !== "string") node.value = source;
        return;
      }
      if (typeof node.value === "number") {
        const number = readYamlNumber(source) ?? node.value;
        const growth = typeof number === "string" ? number.length - source.length : 0;
        if (growth <= addable) {
          node.value = number;
          addable -= growth;
        }
      }
      if (node.type !== "PLAIN" || misread.length >= MAX_WARNINGS) return;
      const kind = kindOf(node);
      const shown = String(node.value);
      if (kind === undefined || shown === source) return;
      const isShared = [...ancestors, node].some(
        (each) => isNode(each) && !isAlias(each) && each.anchor !== undefined,
      );
      misread.push({
        path: pathOf([...ancestors, node]),
        code: "unquoted",
        message: `is read as ${kind}${shorten(shown)}, not as the text ${shorten(source)}`,
        fix:
          `Write ${JSON.stringify(shorten(source))} in quotes if it is text, else ${shorten(shown)}` +
          `${isShared ? ", where it is written: its aliases follow" : ""}.`,
        offset: offsetOf(node),
        text: source,
        isShared,
      });
    },
  });
  return misread;
}

/** The kind of a scalar that is no text, as a message begins with it; undefined for text, and for null that is written as ~. */
function kindOf({ value, source }: Scalar): string | undefined {
  if (typeof value === "string") return source === value ? undefined : "the number ";
  if (typeof value === "number") return Number.isFinite(value) ? "the number " : undefined;
  return typeof value === "boolean" || (value === null && source !== "~") ? "" : undefined;
}

const shorten = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

/** Whether a document is JSON, whose numbers are never meant as text. */
export function isJsonText(text: string): boolean {
  if (!text.trimStart().startsWith("{")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
