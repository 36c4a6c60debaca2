/** Previews a step: its fields, also for items and iterations, and its value for the steps after it. */
import type { Repeat } from "../../../../schemas/repeat.ts";
import type { RunError } from "../../../../schemas/run.ts";
import { StepError } from "../../../core/step-errors.ts";
import type { AnyStepType } from "../../../core/step-type.ts";
import { compileCel, compileValue, type Compiled, type Scope } from "../expressions/index.ts";
import { parseInput } from "../parse-input.ts";
import { emptyOutput, errorValue, givenItem, givenValue, isForEachItem, listed } from "../step-value.ts";
import { needsOutputs, type PreviewEvaluator, Unknown, View } from "./preview-evaluator.ts";

/** A field of a step, unresolved. */
interface PreviewField {
  name: string;
  kind: "literal" | "template" | "cel";
  value: unknown;
  encoding?: "url" | undefined;
}

export interface PreviewStep {
  id: string;
  /** Its position in the definition. */
  index: number;
  /** Undefined where its type is not known. */
  type: AnyStepType | undefined;
  /** As it is written. */
  step: Readonly<Record<string, unknown>>;
  repeat?: Pick<Repeat, "until" | "with" | "max"> | undefined;
  /** The fields of its type. */
  fields: readonly PreviewField[];
  /** The fields of what undoes it. */
  undo?: readonly PreviewField[] | undefined;
  /** The fields of what finds out whether its effect happened. */
  lookup?: readonly PreviewField[] | undefined;
}

export type Values = Record<string, unknown>;

/** Maximum number of items or iterations that are shown. */
const MAX_SHOWN = 10;
/** Maximum number of items or iterations that are computed for the steps after them. */
const MAX_COMPUTED = 200;

/** What is shown of a step, and its value for the steps after it, if it is not skipped. */
interface Previewed {
  view: View;
  value: Values | Unknown;
}

interface Options {
  /** The mocked output of each item of a fan-out. */
  eachItem?: Values | undefined;
  /** Whether a failure is no issue, because the step may not run. */
  isQuiet: boolean;
}

/** A step of an unknown type has no fields. */
const NO_TYPE = { output: { kind: "any" } } as AnyStepType;

/** The step, as far as its value depends on it. */
export const valuedStep = ({ type = NO_TYPE, step }: PreviewStep) => ({ type, step });

/** The value of a step with a mocked output: a mock with an error is that of a failed step. */
export function mockValue(step: PreviewStep, mock: unknown): Values {
  const output = givenValue(valuedStep(step), asObject(mock));
  const error = (output["error"] ?? null) as RunError | null;
  return { ...output, status: error === null ? "succeeded" : "failed", error: errorValue(error) };
}

const asObject = (value: unknown): Values =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : {};

/** The value of each item of a fan-out whose mock counts for all of them; undefined for any other mock. */
export function mockOfEachItem(step: PreviewStep, mock: unknown): Values | undefined {
  const output = asObject(mock);
  return isForEachItem(step.step, output) ? givenItem(valuedStep(step), output) : undefined;
}

/** The items of a mocked fan-out or loop. */
const itemsOf = (mocked: Values | undefined): readonly Values[] =>
  Array.isArray(mocked?.["items"]) ? mocked["items"] : [];

const continues = ({ step }: PreviewStep): boolean => step["on_error"] === "continue";
const fails = ({ id }: PreviewStep): Unknown => new Unknown(`is not reached, because ${id} fails`);
const tooMany = ({ id }: PreviewStep, what: string): Unknown =>
  new Unknown(`needs more than ${MAX_COMPUTED} ${what} of ${id}: add its output to mocks`, [id]);

/** The value of a step from those of its items or iterations. */
function allOf(step: PreviewStep, ended: readonly Previewed[]): Values | Unknown {
  const items: Values[] = [];
  for (const { value } of ended) {
    if (value instanceof Unknown) return value;
    items.push(value);
  }
  return { ...listed(valuedStep(step), items), status: "succeeded", error: null };
}

export function stepPreviewer(
  { evaluate, issues }: PreviewEvaluator,
  scope: Scope,
): { preview(step: PreviewStep, mocked: Values | undefined, options: Options): Previewed } {
  function resolve(
    fields: readonly PreviewField[],
    path: PropertyKey[],
    inner: Scope,
    { isQuiet }: Options,
  ): View {
    const view = new View();
    for (const { name, kind, value, encoding } of fields) {
      const compile = (): Compiled =>
        kind === "cel" ? compileCel(value as string) : compileValue(value, { encoding });
      const options = { path: [...path, name], scope: inner, isQuiet };
      view.add(name, kind === "literal" ? value : evaluate(compile, options));
    }
    return view;
  }

  /** Previews one execution. @param mocked its output; undefined if it is not mocked */
  function execute(step: PreviewStep, inner: Scope, mocked: Values | undefined, options: Options): Previewed {
    const path = ["steps", step.index];
    const fields = resolve(step.fields, path, inner, options);
    const nested = new View();
    if (step.lookup !== undefined)
      nested.add("lookup", resolve(step.lookup, [...path, "lookup"], inner, { isQuiet: true }).shown());
    if (step.undo !== undefined) {
      const after = mocked === undefined ? inner : { ...inner, result: mocked };
      nested.add("undo", resolve(step.undo, [...path, "undo"], after, { isQuiet: true }).shown());
    }
    const view = View.joined(fields, nested);
    if (mocked !== undefined) return { view, value: mocked };
    if (step.type?.compute === undefined) return { view, value: needsOutputs([step.id]) };
    const values = fields.values();
    if (values instanceof Unknown) return { view, value: values };
    try {
      const output = step.type.compute(parseInput({ type: step.type }, values));
      return { view, value: { ...output, status: "succeeded", error: null } };
    } catch (thrown) {
      if (!(thrown instanceof StepError)) throw thrown;
      const error = { code: thrown.code, message: thrown.message };
      view.add("error", error);
      if (!continues(step)) return { view, value: fails(step) };
      const value = { ...emptyOutput(valuedStep(step)), status: "failed", error: errorValue(error) };
      return { view, value };
    }
  }

  function fanOut(step: PreviewStep, mocked: Values | undefined, options: Options): Previewed {
    const path = ["steps", step.index, "for_each"];
    const list = evaluate(() => compileCel(step.step["for_each"] as string), { path, scope, ...options });
    if (!Array.isArray(list)) {
      const reason = list instanceof Unknown ? list : new Unknown("must be a list");
      if (reason !== list && !options.isQuiet)
        issues.push({ path, code: "wrong_type", message: "must be a list" });
      const { view, value } = execute(step, scope, undefined, { isQuiet: true });
      view.add("for_each", reason);
      const isKnown = step.type?.compute !== undefined || options.eachItem !== undefined;
      return { view, value: isKnown ? reason : value };
    }
    const { eachItem } = options;
    const isComputed = step.type?.compute !== undefined && mocked === undefined && eachItem === undefined;
    const count = isComputed && list.length <= MAX_COMPUTED ? list.length : MAX_SHOWN;
    const mockedItems = itemsOf(mocked);
    const items = list
      .slice(0, count)
      .map((item: unknown, index) =>
        execute(step, { ...scope, item, index }, eachItem ?? mockedItems[index], options),
      );
    const view = new View();
    view.add("count", list.length);
    view.add(
      "items",
      items.slice(0, MAX_SHOWN).map((item) => item.view.shown()),
    );
    if (eachItem !== undefined)
      return {
        view,
        value: allOf(
          step,
          list.map(() => ({ view, value: eachItem })),
        ),
      };
    if (!isComputed) return { view, value: needsOutputs([step.id]) };
    return { view, value: items.length < list.length ? tooMany(step, "items") : allOf(step, items) };
  }

  /** Previews the iterations that the mock of the step has, or those that it computes; at least the first one. */
  function iterate(
    step: PreviewStep,
    { until, with: variables = {}, max }: NonNullable<PreviewStep["repeat"]>,
    mocked: Values | undefined,
    { isQuiet }: Options,
  ): Previewed {
    const path = ["steps", step.index, "repeat"];
    const mockedItems = itemsOf(mocked);
    const evaluateAll = (which: "start" | "next", inner: Scope): Values | Unknown => {
      const view = new View();
      for (const [name, variable] of Object.entries(variables)) {
        const compile = (): Compiled =>
          which === "start" ? compileValue(variable.start) : compileCel(variable.next);
        const options = { path: [...path, "with", name, which], scope: inner, isQuiet };
        view.add(name, evaluate(compile, options));
      }
      return view.values();
    };
    const ended: Previewed[] = [];
    const viewOfAll = (): View => {
      const view = new View();
      view.add(
        "items",
        ended.slice(0, MAX_SHOWN).map((iteration) => iteration.view.shown()),
      );
      return view;
    };
    let loop = evaluateAll("start", scope);
    for (let index = 0; ; index += 1) {
      const inner = loop instanceof Unknown ? scope : { ...scope, loop: { ...loop, index } };
      const execution = execute(step, inner, mockedItems[index], { isQuiet });
      const { value } = execution;
      const view = new View();
      view.add("loop", inner.loop ?? loop);
      ended.push({ view: View.joined(view, execution.view), value });
      if (value instanceof Unknown) return { view: viewOfAll(), value };
      const after = { ...inner, result: value };
      const options = { path: [...path, "until"], scope: after, isQuiet };
      const isDone = until === undefined ? index + 1 >= max : evaluate(() => compileCel(until), options);
      if (until !== undefined) ended.at(-1)!.view.add("until", isDone);
      if (isDone === true) return { view: viewOfAll(), value: allOf(step, ended) };
      if (isDone instanceof Unknown) return { view: viewOfAll(), value: isDone };
      if (index + 1 >= max) return { view: viewOfAll(), value: fails(step) };
      if (index + 1 >= MAX_COMPUTED) return { view: viewOfAll(), value: tooMany(step, "iterations") };
      if (mocked !== undefined && index + 1 >= mockedItems.length)
        return { view: viewOfAll(), value: mocked };
      loop = evaluateAll("next", after);
    }
  }

  return {
    preview(step, mocked, options) {
      if (step.repeat !== undefined) return iterate(step, step.repeat, mocked, options);
      if (step.step["for_each"] !== undefined) return fanOut(step, mocked, options);
      return execute(step, scope, mocked, options);
    },
  };
}
