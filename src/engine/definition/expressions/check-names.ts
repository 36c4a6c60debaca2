/** Checks the names of an expression: variables, steps and fields. */
import { nearMatch } from "../../../core/near-match.ts";
import { ANY, STRING } from "../../../core/shapes.ts";
import type { SyntaxNode } from "./cel-parser.ts";
import { formatNode, type IssueDetails } from "./failures.ts";
import { hyphenatedName, inBrackets } from "./field-names.ts";
import type { Facts } from "./flow.ts";
import { FUNCTION_SYNONYMS } from "./functions.ts";
import { replacement, suggestName, suggestStepField } from "./name-suggestions.ts";
import type { Expr } from "./tree.ts";
import type { TypeScope } from "./types.ts";
import type { Type, UnionBudget } from "./typing.ts";
import { describeKind, type Kind } from "./values.ts";

/** Maximum number of names in the `allowed` of an issue. */
const MAX_ALLOWED = 100;

/** The remaining budget for checking one value. All expressions of the value share it. */
export interface CheckBudget {
  unions: UnionBudget;
  /** Remaining searches for a near match: each compares a name with up to thousands of others. */
  remainingSuggestions: number;
  /** Remaining work of evaluating parts that read nothing. */
  closedWork: number;
}
export const createCheckBudget = (): CheckBudget => ({
  unions: { remaining: MAX_UNION_NODES },
  remainingSuggestions: MAX_SUGGESTIONS,
  closedWork: MAX_CLOSED_WORK,
});

/** Maximum number of type nodes compared for one value. */
const MAX_UNION_NODES = 200_000;
/** Maximum number of searches for a near match per value. */
const MAX_SUGGESTIONS = 10;
/** Maximum work of evaluating parts that read nothing per value, as charged to evaluations. */
const MAX_CLOSED_WORK = 1_000_000;

type Of<K extends Expr["kind"]> = Extract<Expr, { kind: K }>;

export interface Check {
  scope: TypeScope;
  /** The types of loop variables, by slot. */
  locals: readonly Type[];
  /** What is known of values here. */
  facts: Facts;
  /** Keys of the values that a warning was reported for. */
  nullWarnings: Set<string>;
  budget: CheckBudget;
  report(code: string, at: SyntaxNode, message: string, more?: IssueDetails): void;
}

/** Suggests a similar name, which is the last part of the node. */
const suggest = (
  { budget }: Check,
  at: SyntaxNode,
  word: string,
  allowed: readonly string[],
): IssueDetails => {
  budget.remainingSuggestions -= 1;
  if (budget.remainingSuggestions < 0) return {};
  const near = nearMatch(word, allowed);
  if (near === undefined) return {};
  const { input, start, end } = at;
  const source = input.slice(start, end);
  const isLast = source.endsWith(word);
  const isQuoted = at.op === "[]" && /^[A-Za-z_]\w*$/.test(near);
  const receiver = at.op === "[]" ? input.slice(at.args[0].outerStart, at.args[0].outerEnd) : "";
  const text = isQuoted ? `${receiver}.${near}` : `${source.slice(0, -word.length)}${near}`;
  return {
    ...((isLast || isQuoted) && replacement(at, text)),
    did_you_mean: near,
    fix: `Write ${near}.`,
  };
};

const listAllowed = (allowed: readonly string[]): { allowed: string[] } => ({
  allowed: allowed.slice(0, MAX_ALLOWED),
});

/** Names that are defined only in some definitions, or in some expressions of a step. */
const OPTIONAL_NAMES = [
  "state",
  "item",
  "index",
  "loop",
  "result",
  "output",
  "event",
  "idempotency_key",
] as const;
type OptionalName = (typeof OPTIONAL_NAMES)[number];
const isOptionalName = (name: string): name is OptionalName =>
  (OPTIONAL_NAMES as readonly string[]).includes(name);

/** What to do where such a name is not defined. */
const OPTIONAL_NAME_FIXES: Readonly<Record<OptionalName, string>> = {
  state:
    "Declare it at the top level, such as state: { last_id: { type: integer, default: 0 } }. A schedule's inputs can't read it.",
  item: "Add for_each to the step: item is defined only there.",
  index: "Add for_each to the step: index is defined only there.",
  loop: "Add repeat to the step: loop is defined only in its own fields and in repeat.until and repeat.with.",
  result:
    "Read the output of an earlier step as steps.<id>: result is defined only in undo, in happened and output of lookup, in repeat.until and in next of repeat.with.",
  output: "Read the output of an earlier step as steps.<id>: output is defined only in assert of examples.",
  event:
    "Read the body of an event as steps.<id>.body, or pass it by inputs: event is defined only in triggers and in match of an event.",
  idempotency_key:
    "Remove it, or move it to the lookup of the step: idempotency_key is defined only there. A request with effects sends it by itself.",
};

export function nameType({ at, name }: Of<"name">, context: Check): Type {
  const { scope, report } = context;
  if (name === "inputs") return scope.inputs;
  if (name === "run") return scope.run;
  const own = isOptionalName(name) ? scope[name] : undefined;
  if (own !== undefined) return own;
  const defined = OPTIONAL_NAMES.filter((optional) => scope[optional] !== undefined);
  const allowed = ["inputs", "run", "steps", ...defined];
  const message = `uses ${name}, which is not defined here`;
  if (name === "index" && scope.loop !== undefined) {
    report("unknown_name", at, message, { allowed, did_you_mean: "loop.index", fix: "Write loop.index." });
  } else if (isOptionalName(name)) {
    report("unknown_name", at, message, { allowed, subject: name, fix: OPTIONAL_NAME_FIXES[name] });
  } else {
    const meant = suggestName(at, name, scope) ?? suggest(context, at, name, allowed);
    const hyphenated = hyphenatedName(at.input, at.start, at.end);
    const fix = hyphenated && `If a field is named ${hyphenated}, write x${inBrackets(hyphenated)}.`;
    report("unknown_name", at, message, { allowed, ...(fix !== undefined && { fix }), ...meant });
  }
  return ANY;
}

export function stepType({ at, id }: Of<"step">, context: Check): Type {
  const { scope, report } = context;
  if (Object.hasOwn(scope.steps, id)) return scope.steps[id]!;
  const allowed = Object.keys(scope.steps);
  if (scope.otherSteps.has(id)) {
    report("not_an_ancestor", at, `reads steps.${id}, which does not run before this step`, {
      ...listAllowed(allowed),
      subject: id,
      fix: `Add ${id} to this step's needs.`,
      ...(id === scope.resultOf && { ...replacement(at, "result"), did_you_mean: "result" }),
    });
  } else {
    const suggestion = suggest(context, at, id, [...allowed, ...scope.otherSteps]);
    report("unknown_step", at, `reads steps.${id}, but there is no step ${id}`, {
      ...listAllowed(allowed),
      ...suggestion,
    });
  }
  return ANY;
}

/** Whether an expression looks for the URL of an event in the step that waits for it. */
export const isEventUrl = ({ of, name }: Of<"field">, { scope }: Check): boolean =>
  name === "url" && of.kind === "step" && Object.hasOwn(eventUrlsOf(scope), of.id);

const eventUrlsOf = ({ run }: TypeScope): Readonly<Record<string, Type>> => {
  const urls = run.kind === "object" ? run.fields["event_urls"] : undefined;
  return urls?.kind === "object" ? urls.fields : {};
};

/** Reports the place where the URL is: it is known before the step, so steps before it can hand it out. */
export function eventUrlType({ at, of }: Of<"field">, { report }: Check): Type {
  const correct = `run.event_urls.${(of as Of<"step">).id}`;
  report("unknown_field", at, "reads the URL of an event from its step, which does not have it", {
    ...replacement(at, correct),
    did_you_mean: correct,
    fix: `Write ${correct}. It needs no entry in needs: it is the same for the whole run.`,
  });
  return STRING;
}

export function fieldType(at: SyntaxNode, of: Type, name: string, context: Check): Type {
  switch (of.kind) {
    case "any":
    case "null":
      return of;
    case "map":
      return orNull(of.of, of);
    case "object": {
      if (Object.hasOwn(of.fields, name)) return orNull(of.fields[name]!, of);
      const allowed = Object.keys(of.fields);
      if (of.open === true) {
        reportUnlikelyField(at, name, allowed, context);
        return of.others === undefined ? ANY : orNull(of.others, of);
      }
      const message = `reads the field ${name}, which does not exist`;
      const meant = suggestStepField(at, name, of.fields);
      context.report("unknown_field", at, message, {
        ...listAllowed(allowed),
        ...(meant?.details ?? suggest(context, at, name, allowed)),
      });
      return meant?.type ?? ANY;
    }
    default: {
      const kind = of.kind;
      context.report(
        "wrong_type",
        at,
        `reads the field ${name} of ${describeKind(kind)}, expected an object`,
        fieldFix(at, kind, name),
      );
      return ANY;
    }
  }
}

/** Warns of a field that may exist, but looks like a declared one with a spelling mistake. */
function reportUnlikelyField(
  at: SyntaxNode,
  name: string,
  declared: readonly string[],
  context: Check,
): void {
  const { did_you_mean: near } = suggest(context, at, name, declared);
  if (near === undefined) return;
  context.report("unknown_field", at, `reads the field ${name}, which is not declared and may be absent`, {
    severity: "warning",
    ...listAllowed(declared),
    did_you_mean: near,
    fix: `Write ${near}, or test for ${name} first with has(…).`,
  });
}

/** Suggests a correction where an expression reads a field of a value that has no fields. */
function fieldFix(at: SyntaxNode, kind: Kind, name: string): IssueDetails {
  const object = at.op === "." || at.op === "[]" ? formatNode(at.args[0]) : "x";
  const fn = Object.hasOwn(FUNCTION_SYNONYMS, name) ? FUNCTION_SYNONYMS[name] : undefined;
  if (fn !== undefined) return { ...replacement(at, `${object}.${fn}()`), did_you_mean: `${fn}()` };
  if (kind === "list")
    return { fix: `Read it from one item, ${object}[0].${name}, or from all: ${object}.map(x, x.${name}).` };
  if (kind === "string") return { fix: `If the string is JSON, write parse_json(${object}).${name}.` };
  return { fix: "Remove the field: only objects have fields." };
}

/** The type of a part of `of`: it may be null if `of` may be null. */
export const orNull = (type: Type, of: Type): Type =>
  of.nullable === true && type.kind !== "any" && type.kind !== "null" ? { ...type, nullable: true } : type;
