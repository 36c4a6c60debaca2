/** What an expression can go on with: `steps.`, `inputs.`, and what a step gives, as validation said it. */
import { asList, asObject, type Path, valueAt } from "./path.ts";
import { fieldsAt, parseShape } from "./shape.ts";
import type { CompletionData, Suggestion } from "./suggestions.ts";

/** Fields that are an expression as a whole. */
const BARE = new Set(["if", "that", "for_each"]);
const RUN_FIELDS = ["id", "started_at", "scheduled_for", "workflow_id", "trigger"];

/**
 * The expression that the cursor is in, up to it.
 * @param written what stands in the same text before the cursor
 * @returns undefined where there is none
 */
export function expressionBefore(written: string, path: Readonly<Path>): string | undefined {
  const open = written.lastIndexOf("${{");
  if (open >= 0 && written[open - 1] !== "$") {
    const inside = written.slice(open + 3);
    if (!inside.includes("}}")) return path.at(-1) === "query" && path.length === 3 ? undefined : inside;
  }
  const bare = path[0] === "steps" && path.length === 3 && BARE.has(String(path[2]));
  return bare && open < 0 ? written : undefined;
}

/** @param before the expression up to the cursor */
export function completeExpression(
  before: string,
  path: Readonly<Path>,
  root: unknown,
  known: CompletionData,
): { typed: string; list: Suggestion[] } {
  const chain = /(?:[A-Za-z_]\w*(?:\[\w*\])*\.)*\w*$/.exec(before)![0];
  const parts = chain.split(".");
  const typed = parts.pop()!;
  if (isInString(before)) return { typed, list: [] };
  const steps = asList(asObject(root)["steps"]);
  const index = path[0] === "steps" && typeof path[1] === "number" ? path[1] : undefined;
  const list = follow(parts, { root, steps, index, known });
  return { typed, list };
}

interface Scope {
  root: unknown;
  steps: readonly unknown[];
  /** Of the step that the expression stands in; undefined outside of them. */
  index: number | undefined;
  known: CompletionData;
}

function follow(parts: readonly string[], scope: Scope): Suggestion[] {
  const [head, ...rest] = parts;
  if (head === undefined) return names(scope);
  if (head === "run" && rest.length === 0) return RUN_FIELDS.map((label) => ({ label, kind: "property" }));
  if (head === "inputs") return inputs(scope.root, rest);
  if (head !== "steps") return [];
  const [id, ...fields] = rest;
  if (id === undefined) return ancestors(scope).map(stepSuggestion);
  const shape = scope.known.steps?.find((it) => it.id === id)?.output;
  if (shape === undefined) return [];
  return fieldsAt(parseShape(shape), fields).map(([label, detail]) => ({ label, detail, kind: "property" }));
}

function names({ known, steps, index }: Scope): Suggestion[] {
  const fanOut = index !== undefined && asObject(steps[index])["for_each"] !== undefined;
  return [
    { label: "inputs", detail: "of the run", kind: "variable", apply: "inputs.", reopenCompletion: true },
    { label: "steps", detail: "what they gave", kind: "variable", apply: "steps.", reopenCompletion: true },
    { label: "run", detail: "the run itself", kind: "variable", apply: "run.", reopenCompletion: true },
    ...(fanOut
      ? [
          { label: "item", detail: "of for_each", kind: "variable" as const },
          { label: "index", detail: "of the item, from 0", kind: "variable" as const },
        ]
      : []),
    ...(known.functions ?? []).map((label): Suggestion => ({ label, kind: "function", apply: `${label}(` })),
  ];
}

function inputs(root: unknown, rest: readonly string[]): Suggestion[] {
  let schema = asObject(asObject(root)["inputs"]);
  for (const part of rest) schema = asObject(asObject(schema["properties"])[part.replace(/\[.*$/, "")]);
  return Object.entries(asObject(schema["properties"])).map(([label, property]) => {
    const { type, description } = asObject(property);
    return { label, kind: "property", detail: text(type), info: text(description) };
  });
}

export const stepSuggestion = (step: unknown): Suggestion => {
  const { id, type, description } = asObject(step);
  return { label: String(id), kind: "variable", detail: text(type), info: text(description) };
};

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The steps that have ended when this one begins; all of them where it is the output that is written. */
function ancestors({ steps, index }: Scope): unknown[] {
  const named = steps.filter((step) => typeof asObject(step)["id"] === "string");
  if (index === undefined) return named;
  const found = new Set<unknown>();
  const waiting = [index];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const needs = valueAt(steps, [at, "needs"]);
    const before = Array.isArray(needs)
      ? needs.map((id) => steps.findIndex((step) => asObject(step)["id"] === id))
      : [at - 1];
    for (const next of before) {
      if (next < 0 || next === index || found.has(steps[next])) continue;
      found.add(steps[next]);
      waiting.push(next);
    }
  }
  return named.filter((step) => found.has(step));
}

/** Whether a quote of the expression is open: what is typed then is text. */
function isInString(before: string): boolean {
  const closed = before.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, "");
  return /["']/.test(closed);
}
