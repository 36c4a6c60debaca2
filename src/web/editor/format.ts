/**
 * Converts a definition between object and text (YAML or JSON), and locates issues in the text. `yaml` is loaded at the
 * first call, so that pages that only show a definition's name don't load it.
 *
 * An empty text (nothing, white space or only comments) is no definition: `toText(null)` returns "", `convert` keeps it
 * empty, and `parse` returns an issue, so that it never passes as valid.
 */
import * as texts from "#texts/editor";
import type { Issue, JsonPatchOperation } from "../../../schemas/problem.ts";
import { endSentence } from "../ui/sentence.ts";
import { jsonIssue } from "./json-syntax.ts";

export type Format = "yaml" | "json";

/** An issue as the editor shows it. */
export interface EditorIssue {
  /** What is wrong with the value at `path`, "must be a number, not text"; a whole sentence when `path` is empty. */
  message: string;
  /** What to do. */
  fix?: string;
  /** A dotted path; empty for the whole definition. */
  path: string;
  /** From 1. */
  line?: number;
  /** From 1. */
  column?: number;
  /** Where the wrong value ends; left out where only the start is known. */
  endLine?: number;
  endColumn?: number;
  severity: "error" | "warning";
  /** The change of the definition that fixes it, where one change is right. */
  patch?: readonly JsonPatchOperation[];
}

export type Parsed = { definition: Record<string, unknown> } | { issues: EditorIssue[] };
/** `commentsLost`: the text had comments, which JSON can't contain. */
export type Converted = { text: string; commentsLost: boolean } | { issues: EditorIssue[] };

/** @returns the definition as text that ends in a newline; "" for null */
export async function toText(definition: Record<string, unknown> | null, format: Format): Promise<string> {
  if (definition === null) return "";
  if (format === "json") return `${JSON.stringify(definition, null, 2)}\n`;
  return (await import("./yaml-text.ts")).toYaml(definition);
}

/** The text of a saved definition: as it was typed if that is kept, with its comments. */
export const savedText = async (
  {
    definition,
    source,
  }: { definition?: Record<string, unknown> | null | undefined; source?: string | undefined },
  format: Format,
): Promise<string> =>
  format === "yaml" && source !== undefined ? source : toText(definition ?? null, format);

/** @returns the definition, or syntax errors with line and column */
export async function parse(text: string, format: Format): Promise<Parsed> {
  const read = await readValue(text, format);
  if ("issues" in read) return read;
  const { value } = read;
  if (value === undefined) return { issues: [issue(texts.definitionEmpty, texts.startWithSteps)] };
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return { definition: value as Record<string, unknown> };
  return { issues: [issue(texts.definitionNotObject({ kind: kindOf(value) }), texts.startWithSteps)] };
}

/** The same definition in the other format. */
export async function convert(text: string, from: Format, to: Format): Promise<Converted> {
  const { hasComments } = await import("./yaml-text.ts");
  const commentsLost = from === "yaml" && to === "json" && hasComments(text);
  if (from === to || (await isEmpty(text, from))) return { text, commentsLost: false };
  const parsed = await parse(text, from);
  return "issues" in parsed ? parsed : { text: await toText(parsed.definition, to), commentsLost };
}

/** The text in the usual form: two spaces, and no line is broken. Comments, quotes and the order of keys stay. */
export async function formatted(
  text: string,
  format: Format,
): Promise<{ text: string } | { issues: EditorIssue[] }> {
  const parsed = await parse(text, format);
  if ("issues" in parsed) return parsed;
  if (format === "json") return { text: await toText(parsed.definition, format) };
  return { text: (await import("./yaml-text.ts")).formatYaml(text) };
}

/**
 * Locates the server's issues in the text: at the value that the path names, or at the nearest key around it, or, without
 * a path, at the line that the issue names. Paths may begin with `definition`, and may name a step by its index or its id.
 */
export async function placeIssues(
  text: string,
  // JSON is YAML too, so one parser locates issues in both.
  _format: Format,
  issues: readonly Issue[],
  severity: EditorIssue["severity"] = "error",
): Promise<EditorIssue[]> {
  if (issues.length === 0) return [];
  const { createLocator } = await import("./yaml-positions.ts");
  const locate = createLocator(text);
  return issues.map(({ path, code, message, fix, did_you_mean, line, column, patch }) => ({
    path: path.replace(/^definition(?:\.|$)/, ""),
    // Without a path, the sentence still needs a subject; the messages of the server are English.
    message: path === "" && /^[a-z]/.test(message) ? `The definition ${message}` : message,
    ...fixOf(fix, did_you_mean),
    ...(path === "" && line !== undefined ? { line, column: column ?? 1 } : locate(path, code)),
    severity,
    ...(patch !== undefined && { patch }),
  }));
}

/** The issue in one line: path, message and fix. */
export const issueSentence = ({ path, message, fix }: EditorIssue): string =>
  [path, endSentence(message), fix].filter((part) => part !== undefined && part !== "").join(" ");

async function readValue(
  text: string,
  format: Format,
): Promise<{ value: unknown } | { issues: EditorIssue[] }> {
  if (format === "yaml") return (await import("./yaml-text.ts")).parseYaml(text);
  if (text.trim() === "") return { value: undefined };
  const syntaxError = jsonIssue(text);
  return syntaxError === undefined ? { value: JSON.parse(text) as unknown } : { issues: [syntaxError] };
}

async function isEmpty(text: string, format: Format): Promise<boolean> {
  const read = await readValue(text, format);
  return "value" in read && read.value === undefined;
}

const issue = (message: string, fix: string): EditorIssue => ({
  message,
  fix,
  path: "",
  line: 1,
  column: 1,
  severity: "error",
});

const kindOf = (value: unknown): Parameters<typeof texts.definitionNotObject>[0]["kind"] => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (typeof value === "string") return "text";
  return typeof value === "boolean" ? "boolean" : "number";
};

function fixOf(fix: string | undefined, near: string | undefined): { fix?: string } {
  if (fix !== undefined) return { fix };
  return near === undefined ? {} : { fix: texts.didYouMean({ near }) };
}
