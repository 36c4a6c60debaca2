/**
 * The one validator of definitions: validate, save, publish and run all ask it. It finds every fault at once, and what
 * can be known of a run before it starts.
 */
import type { DefinedStep, Definition } from "../../../schemas/workflow-definition.ts";
import { type Clock, systemClock } from "../../core/clock.ts";
import type { Connections } from "../../core/connections.ts";
import { ANY, type Shape } from "../../core/shapes.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import { FILE_FIELDS } from "../definition-schema.ts";
import { checkValueSlowly } from "../expressions/index.ts";
import { binder, type WorkflowLookup } from "./bind.ts";
import { breather } from "./breath.ts";
import { type CheckedSteps, checkSteps } from "./check-steps.ts";
import { combinationFaults } from "./combinations.ts";
import { type Form, formChecker } from "./form.ts";
import { type Order, orderOf } from "./order.ts";
import { mockFaults, previewer } from "./preview.ts";
import { below, type CheckOptions, type Located, type Report } from "./report.ts";
import { readSource, type Source } from "./source.ts";
import { lastOutput } from "./step-shapes.ts";
import { told } from "./tell.ts";
import {
  type CheckedInputs,
  checkInputs,
  exampleFaults,
  onFailureFaults,
  scheduleFaults,
} from "./top-faults.ts";

export type { WorkflowLookup } from "./bind.ts";
export type { CheckOptions, Report } from "./report.ts";
export { MAX_BYTES } from "./source.ts";
export { toYaml } from "./to-yaml.ts";

export interface Checker {
  /**
   * Checks a definition.
   * @param source an object (JSON), or YAML or JSON text
   * @throws the signal's reason once it is aborted
   */
  check(source: unknown, options: CheckOptions): Promise<Report>;
}

export interface CheckerParts {
  stepTypes: readonly AnyStepType[];
  connections: Connections;
  workflows: WorkflowLookup;
  clock?: Clock;
  /** How long all checks against the real world may take, in milliseconds. */
  bindMs?: number;
}

export function checker({
  stepTypes,
  connections,
  workflows,
  clock = systemClock,
  bindMs,
}: CheckerParts): Checker {
  const forms = formChecker(stepTypes);
  const preview = previewer();

  async function look(source: Source, options: CheckOptions): Promise<Report> {
    const { bind, signal, selfId, file = false } = options;
    if (source.value === undefined) return unreadable(source);
    const written = source.value as Readonly<Record<string, unknown>>;
    const breathe = breather(signal);
    const form = await forms.check(written, file, breathe);
    const order = orderOf(form.steps);
    const faults = [...form.faults, ...order.faults];
    faults.push(...form.steps.flatMap((step, index) => combinationFaults(step, index)));

    const inputs = checkInputs(written["inputs"]);
    faults.push(...inputs.faults);
    faults.push(...(await topFaults(written, inputs, clock.now(), breathe)));
    const { on_failure: onFailure } = written;
    if (bind && typeof onFailure === "string" && !isBroken(faults, "on_failure"))
      faults.push(...(await onFailureFaults(onFailure, workflows, selfId)));

    const bound = binder(bind ? { connections, workflows } : undefined, signal, bindMs);
    const steps = await checkSteps(form.steps, order, inputs.shape, bound, breathe).finally(bound.close);
    faults.push(...steps.faults);
    const output = await outputOf(written, steps, form, breathe);
    faults.push(...output.faults);

    const given = await beside(options, { form, order, inputs, written });
    const errors = await told([...faults, ...given.inDocument], given.faults, source);
    return {
      valid: errors.length === 0,
      errors,
      definition: withoutFileFields(written, file),
      parsed: parsedOf(form),
      file: form.file,
      inputs_shape: inputs.shape,
      output_shape: output.shape,
      steps: steps.steps,
      ...(given.inputs !== undefined && { inputs: given.inputs }),
      ...(given.preview !== undefined && { preview: given.preview }),
    };
  }

  /** What was handed in beside the definition: inputs, and mocks to evaluate it with. */
  async function beside(
    { inputs: given, mocks, selfId, signal }: CheckOptions,
    { form, order, inputs, written }: Looked,
  ): Promise<Beside> {
    const { validator } = inputs;
    if ((given === undefined && mocks === undefined) || validator === undefined)
      return { faults: [], inDocument: [] };
    const parsed = validator.parse(given ?? {});
    const faults = "faults" in parsed ? parsed.faults.map((it) => below(["inputs"], it)) : [];
    const value = "value" in parsed ? parsed.value : undefined;
    const found: Beside = { faults, inDocument: [], ...(value !== undefined && { inputs: value }) };
    if (mocks === undefined) return found;
    faults.push(...mockFaults(mocks, order));
    if (faults.length > 0 || value === undefined) return found;
    const now = clock.now();
    const { output } = written;
    const result = await preview({ form, order, output, inputs: value, mocks, selfId, now }, signal);
    return { ...found, inDocument: result.faults, preview: result.preview };
  }

  return {
    async check(given, options) {
      options.signal?.throwIfAborted();
      const source = await readSource(given);
      try {
        return await look(source, options);
      } finally {
        source.close();
      }
    },
  };
}

interface Looked {
  form: Form;
  order: Order;
  inputs: CheckedInputs;
  written: Readonly<Record<string, unknown>>;
}

interface Beside extends Pick<Report, "inputs" | "preview"> {
  faults: Located[];
  inDocument: readonly Located[];
}

const unreadable = ({ faults }: Source): Report => ({
  valid: false,
  errors: faults,
  definition: null,
  parsed: null,
  file: {},
  inputs_shape: ANY,
  output_shape: ANY,
  steps: [],
});

const isBroken = (faults: readonly Located[], field: string): boolean =>
  faults.some(({ path }) => path[0] === field);

async function topFaults(
  written: Looked["written"],
  inputs: CheckedInputs,
  now: number,
  breathe: () => Promise<void>,
): Promise<Located[]> {
  const { schedule, examples } = written;
  const isObject = typeof schedule === "object" && schedule !== null && !Array.isArray(schedule);
  return [
    ...(inputs.validator === undefined ? [] : await exampleFaults(examples, inputs.validator, breathe)),
    ...(isObject ? scheduleFaults(schedule as Looked["written"], inputs, now) : []),
  ];
}

async function outputOf(
  written: Looked["written"],
  { own, scopes }: CheckedSteps,
  { steps }: Form,
  breathe: () => Promise<void>,
): Promise<{ shape: Shape; faults: Located[] }> {
  if (written["output"] === undefined) {
    const last = steps.at(-1);
    return { shape: last === undefined ? ANY : lastOutput(last.written, own.at(-1)!), faults: [] };
  }
  const { shape, faults } = await checkValueSlowly(written["output"], scopes.all(), breathe);
  return { shape, faults: faults.map((fault) => below(["output"], fault)) };
}

function withoutFileFields(written: Looked["written"], file: boolean): Record<string, unknown> {
  const kept = Object.entries(written).filter(([key]) => !file || !Object.hasOwn(FILE_FIELDS, key));
  return Object.fromEntries(kept);
}

/** Null unless all of it has the right form. */
function parsedOf({ top, steps, faults }: Form): Definition | null {
  const parsed = steps.map((step) => step.parsed);
  if (top === undefined || faults.length > 0 || parsed.includes(undefined)) return null;
  return { ...top, steps: parsed as DefinedStep[] };
}
