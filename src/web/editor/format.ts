/**
 * Converts a definition between object and text (YAML or JSON), and locates issues in the text. `yaml` is loaded at the
 * first call, so that pages that only show a definition's name don't load it.
 *
 * An empty text (nothing, white space or only comments) is no definition: `toText(null)` returns "", `convert` keeps it
 * empty, and `parse` returns an issue, so that it never passes as valid.
 */
import { issueForPeople } from "../api/api-words.ts";
import type { Issue, JsonPatchOperation } from "../../../schemas/problem.ts";
import { parseJson, TOO_LONG_FIX } from "../forms/exact-number.ts";
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
  return (await import("../../../schemas/to-yaml.ts")).toYaml(definition);
}

/** @returns the definition, or syntax errors with line and column */
export async function parse(text: string, format: Format): Promise<Parsed> {
  const read = await readValue(text, format);
  if ("issues" in read) return read;
  const { value } = read;
  if (value === undefined) return { issues: [issue("The definition is empty", START_FIX)] };
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return { definition: value as Record<string, unknown> };
  return { issues: [issue(`The definition must be an object, not ${kindOf(value)}`, START_FIX)] };
}

/**
 * The text with another definition, and its comments.
 * @returns undefined if the text can't be changed
 */
export async function changeText(
  text: string,
  definition: Record<string, unknown>,
): Promise<string | undefined> {
  const [{ rewriteYaml }, { isEqualJson }] = await Promise.all([
    import("../../../schemas/yaml-rewrite.ts"),
    import("../../../schemas/json-diff.ts"),
  ]);
  const before = await parse(text, "yaml");
  if ("issues" in before) return undefined;
  try {
    const changed = rewriteYaml(text, before.definition, definition);
    const after = await parse(changed, "yaml");
    return "definition" in after && isEqualJson(after.definition, definition) ? changed : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The text in its canonical form, with its comments.
 * @returns undefined for a text that can't be formatted: with a syntax error
 */
export async function formatText(text: string, format: Format): Promise<string | undefined> {
  if (format === "yaml") return (await import("./format-yaml.ts")).formatYaml(text);
  const parsed = await parse(text, format);
  return "issues" in parsed ? undefined : toText(parsed.definition, format);
}

/** The same definition in the other format. */
export async function convert(text: string, from: Format, to: Format): Promise<Converted> {
  const { hasComments } = await import("./yaml-text.ts");
  const commentsLost = from === "yaml" && to === "json" && hasComments(text);
  if (from === to || (await isEmpty(text, from))) return { text, commentsLost: false };
  const parsed = await parse(text, from);
  return "issues" in parsed ? parsed : { text: await toText(parsed.definition, to), commentsLost };
}

/**
 * Locates the server's issues in the text: at the line that the issue names, or at the key that its path names, or at
 * the nearest parent of that. Paths may begin with `definition`, and may name a step by its index or its id.
 */
export async function placeIssues(
  text: string,
  // JSON is YAML too, so one parser locates issues in both.
  _format: Format,
  issues: readonly Issue[],
  severity: EditorIssue["severity"] = "error",
): Promise<EditorIssue[]> {
  if (issues.length === 0) return [];
  const { createLocator } = await import("./yaml-text.ts");
  const locate = createLocator(text);
  return issues.map((issue) => {
    const { path, message, fix, did_you_mean, line, column, patch } = issueForPeople(issue);
    return {
      path: path.replace(/^definition(?:\.|$)/, ""),
      // Without a path, the sentence still needs a subject.
      message: path === "" && /^[a-z]/.test(message) ? `The definition ${message}` : message,
      ...fixOf(fix, did_you_mean),
      ...(line === undefined ? locate(path) : { line, column: column ?? 1 }),
      severity,
      ...(patch !== undefined && { patch }),
    };
  });
}

const START_FIX = "Start with `steps`: a list of steps, each with an id and a type.";

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
  if (syntaxError !== undefined) return { issues: [syntaxError] };
  try {
    return { value: parseJson(text) };
  } catch (error) {
    return { issues: [issue((error as Error).message, TOO_LONG_FIX)] };
  }
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

const kindOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "string" ? "text" : `a ${typeof value}`;
};

function fixOf(fix: string | undefined, near: string | undefined): { fix?: string } {
  if (fix !== undefined) return { fix };
  return near === undefined ? {} : { fix: `Did you mean ${near}?` };
}
