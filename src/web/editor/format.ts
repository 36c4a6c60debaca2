/**
 * A definition between object and text, YAML or JSON, and where in the text a fault stands. `yaml` is loaded at the
 * first call: who only shows a definition's name does not pay for it.
 *
 * No text (nothing, white space, comments alone) is no definition: `toText(null)` gives "", `convert` leaves it empty,
 * and `parse` says in a fault that the definition is empty, so that it never passes for a valid one.
 */
import type { Issue } from "../../../schemas/problem.ts";
import { jsonIssue } from "./json-syntax.ts";

export type Format = "yaml" | "json";

/** A fault as the editor shows it. */
export interface EditorIssue {
  /** What is wrong with what `path` names, "must be a number, not text"; a whole sentence where there is no path. */
  message: string;
  /** What to do. */
  fix?: string;
  /** A dotted path; empty for the whole. */
  path: string;
  /** From 1. */
  line?: number;
  /** From 1. */
  column?: number;
  severity: "error" | "warning";
}

export type Parsed = { definition: Record<string, unknown> } | { issues: EditorIssue[] };
/** `commentsLost`: the text had comments, and JSON can't hold them. */
export type Converted = { text: string; commentsLost: boolean } | { issues: EditorIssue[] };

/** @returns the definition as people read it, ending in a newline; "" for none */
export async function toText(definition: Record<string, unknown> | null, format: Format): Promise<string> {
  if (definition === null) return "";
  if (format === "json") return `${JSON.stringify(definition, null, 2)}\n`;
  return (await import("./yaml-text.ts")).toYaml(definition);
}

/** Reads a text; what can't be read is told with line and column. */
export async function parse(text: string, format: Format): Promise<Parsed> {
  const read = await readValue(text, format);
  if ("issues" in read) return read;
  const { value } = read;
  if (value === undefined) return { issues: [issue("The definition is empty", EMPTY_FIX)] };
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return { definition: value as Record<string, unknown> };
  return { issues: [issue(`The definition must be an object, not ${kindOf(value)}`, EMPTY_FIX)] };
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
 * Gives each of the server's faults its place: the one that it brings, else the key that its path names, else the
 * nearest thing around it. Paths may begin with `definition`, and may name a step by its number or its id.
 */
export async function placeIssues(
  text: string,
  // JSON is YAML too: one reader finds places in both.
  _format: Format,
  issues: readonly Issue[],
): Promise<EditorIssue[]> {
  if (issues.length === 0) return [];
  const { createLocator } = await import("./yaml-text.ts");
  const locate = createLocator(text);
  return issues.map(({ path, message, fix, did_you_mean, line, column }) => ({
    path: path.replace(/^definition(?:\.|$)/, ""),
    // What is said of the whole has no path to be its subject.
    message: path === "" && /^[a-z]/.test(message) ? `The definition ${message}` : message,
    ...adviceOf(fix, did_you_mean),
    ...(line === undefined ? locate(path) : { line, column: column ?? 1 }),
    severity: "error" as const,
  }));
}

const EMPTY_FIX = "Begin with steps: a list of what is to be done, each with an id and a type.";

async function readValue(
  text: string,
  format: Format,
): Promise<{ value: unknown } | { issues: EditorIssue[] }> {
  if (format === "yaml") return (await import("./yaml-text.ts")).parseYaml(text);
  if (text.trim() === "") return { value: undefined };
  const found = jsonIssue(text);
  return found === undefined ? { value: JSON.parse(text) as unknown } : { issues: [found] };
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

function adviceOf(fix: string | undefined, near: string | undefined): { fix?: string } {
  if (fix !== undefined) return { fix };
  return near === undefined ? {} : { fix: `Did you mean ${near}?` };
}
