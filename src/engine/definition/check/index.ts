/**
 * The checker of definitions, which validate, save, publish and run all use. It finds all issues at once, and the types
 * of a run's values before it starts.
 */
import { DURATION_LIMITS } from "../../../../schemas/config.ts";
import type { StepDefinition, Definition } from "../../../../schemas/workflow-definition.ts";
import { applyFixes } from "../../../core/apply-fixes.ts";
import { exposureWarnings } from "../../../core/exposure-warnings.ts";
import { type Clock, systemClock } from "../../../core/clock.ts";
import type { Connections } from "../../../core/connections.ts";
import type { DurationLimits } from "../../../core/duration-limits.ts";
import type { CheckReport } from "../../../core/engine-port.ts";
import { lazy } from "../../../core/lazy.ts";
import { ANY } from "../../../core/shapes.ts";
import type { AnyStepType } from "../../../core/step-type.ts";
import { FILE_FIELDS } from "../definition-schema.ts";
import { withDefaultFix } from "../fixes/default-fix.ts";
import { addFixes } from "../fixes/index.ts";
import { intendSchema } from "../fixes/intended-schema.ts";
import { type CallGraph, calledWorkflows, withAssumed, type WorkflowLookup } from "./called-workflows.ts";
import { definitionText } from "./definition-text.ts";
import { hiddenTextIssues } from "./hidden-text.ts";
import { resourceChecker } from "./resource-checks.ts";
import { periodicYield } from "./yield-to-event-loop.ts";
import { checkSteps } from "./check-steps.ts";
import { combinationIssues } from "./combinations.ts";
import { type ParsedDefinition, type ParsedStep, schemaChecker } from "./schema-check.ts";
import { interruptionIssues } from "./lookup-issues.ts";
import { misreadFollower } from "./follow-misread.ts";
import { withMisread } from "./misread-issues.ts";
import { backtestIssues } from "./backtest-issues.ts";
import { mustSucceedIssues } from "./must-succeed-issues.ts";
import { durationIssues } from "./duration-issues.ts";
import { zeroDurationIssues } from "./zero-durations.ts";
import { orderSteps } from "./step-order.ts";
import { assertionIssues, exampleIssues } from "./example-issues.ts";
import { type ExpectedOutputs, outputIssues, readsOf } from "./given-issues.ts";
import { previewOf } from "./preview.ts";
import {
  hasErrors,
  prefixPath,
  type CheckOptions,
  type LocatedIssue,
  type Report,
  typeText,
} from "./check-report.ts";
import { readSource, type Source } from "./source.ts";
import { type CheckedState, checkState, commitIssues } from "./state-issues.ts";
import { triggerIssues } from "./trigger-issues.ts";
import { nestedParser } from "./parse-nested.ts";
import { undoCombinationIssues } from "./undo-issues.ts";
import { checkOutput } from "./output-issues.ts";
import { runShape } from "./step-shapes.ts";
import { repeatWarnings } from "./repeat-warnings.ts";
import { reportIssues } from "./report-issues.ts";
import {
  type CheckedInputs,
  checkInputs,
  checkSchedule,
  onFailureIssues,
  priorityIssues,
} from "./top-level-issues.ts";

export type { WorkflowLookup } from "./called-workflows.ts";
export type { CheckOptions, Report } from "./check-report.ts";
export { MAX_BYTES } from "./source.ts";
export { changeText, saysDefinition } from "./definition-text.ts";
export { toYaml } from "../../../../schemas/to-yaml.ts";

export interface Checker {
  /**
   * Checks a definition.
   * @param source an object (JSON), or YAML or JSON text
   * @param resources what the definition can use; left out, those of the checker
   * @throws the signal's reason once it is aborted
   */
  check(source: unknown, options: CheckOptions, resources?: CheckResources): Promise<Report>;
}

/** Checks a definition, here or in a thread. @throws the signal's reason once it is aborted; AppError busy */
export type CheckDefinition = (source: unknown, options: CheckOptions) => Promise<CheckReport>;

/** What a definition can use: that of its project. */
export interface CheckResources {
  connections: Connections;
  workflows: WorkflowLookup;
  /** Whether a mail address is that of an active user. */
  isActiveUser?: (email: string) => Promise<boolean>;
  /** The addresses of some active users, to find a near match. */
  memberEmails?: () => Promise<string[]>;
}

export interface CheckerOptions extends CheckResources {
  stepTypes: readonly AnyStepType[];
  clock?: Clock;
  /** The shortest time between two runs of a schedule, as a duration. */
  minScheduleInterval?: string;
  /** Up to this priority, runs go before those of other owners. */
  maxPriority?: number;
  /** The operator's maxima. */
  limits?: DurationLimits;
  /** Timeout of all checks against connections and workflows together, in milliseconds. */
  resourceCheckMs?: number;
}

export function checker({
  stepTypes,
  clock = systemClock,
  minScheduleInterval = "1m",
  maxPriority = 0,
  limits = DURATION_LIMITS,
  resourceCheckMs,
  ...ownResources
}: CheckerOptions): Checker {
  const schemas = schemaChecker(stepTypes);
  const parseNested = nestedParser(stepTypes);

  /** @param graph the workflows that the check of a caller has looked up already */
  async function checkSource(
    source: Source,
    options: CheckOptions,
    resources: CheckResources,
    graph: CallGraph = new Map(),
  ): Promise<Report> {
    const { connections, workflows, isActiveUser, memberEmails } = resources;
    const { checkConnections, checkWorkflows = checkConnections, signal, selfId } = options;
    const { allowFileFields = false } = options;
    const lookup = withAssumed(workflows, options);
    if (source.value === undefined) return unreadable(source);
    const given = source.value as Readonly<Record<string, unknown>>;
    const yieldToEventLoop = periodicYield(signal);
    const form = await schemas.check(given, allowFileFields, yieldToEventLoop);
    const written = form.intended;
    const order = orderSteps(form.steps);
    const { steps: parsedSteps, issues: nestedErrors } = parseNested(form.steps);
    const issues = [...order.issues, ...nestedErrors];
    issues.push(
      ...parsedSteps.flatMap((step, index) => [
        ...combinationIssues(step, index),
        ...undoCombinationIssues(step, index),
        ...interruptionIssues(step, index),
      ]),
    );
    issues.push(...zeroDurationIssues(written, parsedSteps), ...durationIssues(written, parsedSteps, limits));
    issues.push(...hiddenTextIssues(written));

    const inputs = checkIntendedInputs(written["inputs"]);
    const state = checkState(written["state"]);
    const schedule = isObject(written["schedule"])
      ? checkSchedule(written["schedule"], inputs, clock.now(), minScheduleInterval)
      : { issues: [], nextTimes: [] };
    issues.push(...inputs.issues, ...state.issues);
    if (inputs.issues.length === 0)
      issues.push(...exposureWarnings(selfId, written).map((issue) => prefixPath([], issue)));
    issues.push(
      ...schedule.issues,
      ...priorityIssues(written["priority"], maxPriority),
      ...(await mustSucceedIssues(written, {
        mailer: checkConnections ? connections.mailer : undefined,
        isActiveUser: checkConnections ? isActiveUser : undefined,
        now: clock.now(),
      })),
      ...backtestIssues(
        written,
        parsedSteps.map(({ id }) => id),
      ),
    );
    issues.push(
      ...(await triggerIssues(
        written["triggers"],
        inputs,
        checkConnections ? connections : undefined,
        yieldToEventLoop,
      )),
    );
    const called = checkWorkflows
      ? await calledWorkflows(written, selfId, { lookup, graph, check: checkCalled })
      : undefined;
    issues.push(...(called?.recursionIssues() ?? []));
    const { on_failure: onFailure } = written;
    if (called !== undefined && typeof onFailure === "string" && !hasIssue(form.issues, "on_failure"))
      issues.push(...(await onFailureIssues(onFailure, called, selfId)));

    const checkResources = resourceChecker(
      {
        connections: checkConnections ? connections : undefined,
        workflows: called,
        ...(checkConnections && { isActiveUser, memberEmails }),
      },
      options,
      options.connectionsTimeoutMs ?? resourceCheckMs,
    );
    const shapes = {
      inputs: inputs.shape,
      run: runShape(form.steps.map(({ raw }) => raw)),
      state: state.shape,
    };
    const steps = await checkSteps(parsedSteps, order, shapes, checkResources, yieldToEventLoop).finally(
      checkResources.close,
    );
    issues.push(...steps.issues);
    if (checkConnections) issues.push(...repeatWarnings(parsedSteps, steps.readOnly, connections));
    const output = await checkOutput(written, steps, form, yieldToEventLoop);
    issues.push(...output.issues);

    const { commit, examples } = written;
    const ended = steps.scopes.ofOutput();
    issues.push(...(await commitIssues(commit, state, ended, yieldToEventLoop)));
    const stepFields = new Map(parsedSteps.map(({ id, raw }) => [id, raw] as const));
    const expected = { order, stepFields, shapes: ended.steps, reads: lazy(() => readsOf(written)) };
    const trialOf = { ...expected, steps: parsedSteps };
    issues.push(...(await exampleIssues(examples, inputs.validator, trialOf, yieldToEventLoop)));
    issues.push(...(await assertionIssues(examples, { ...ended, output: output.shape }, yieldToEventLoop)));

    const extra = await checkArguments(options, {
      steps: parsedSteps,
      expected,
      inputs,
      state,
      written,
    });
    const parts = { steps: form.steps, order };
    const found = addFixes([...issues, ...extra.inDocument], { ...parts, written });
    const located = [
      ...source.valueIssues,
      ...addFixes(form.issues, { ...parts, written: given }),
      ...found.map((issue) => form.toWritten(issue)),
    ]
      .filter((issue) => source.valueIssues.includes(issue) || !isAbout(issue, source.valueIssues))
      .map(withDefaultFix);
    const all = await withMisread(located, source.misread, given, (quoted) =>
      checkSource(
        readSource(quoted),
        { allowFileFields, checkConnections: false, checkWorkflows, selfId, ...(signal && { signal }) },
        resources,
        graph,
      ),
    );
    const { errors, warnings } = reportIssues(all, extra.issues.map(withDefaultFix), source);
    return {
      valid: errors.length === 0,
      errors,
      warnings,
      definition: source.valueIssues.length > 0 ? null : withoutFileFields(given, allowFileFields),
      parsed: parsedOf(form),
      file: form.fileFields,
      inputs_shape: inputs.shape,
      output_shape: output.shape,
      output_type: typeText(output.shape),
      steps: steps.steps,
      ...(schedule.nextTimes.length > 0 && { next_runs: schedule.nextTimes }),
      ...(extra.inputs !== undefined && { inputs: extra.inputs }),
      ...(extra.preview !== undefined && { preview: extra.preview }),
    };

    /** Checks a workflow that this one runs, and those that it runs in turn, but no connections. */
    async function checkCalled(definition: Record<string, unknown>, id: string): Promise<Report> {
      const { asPublished, unavailable } = options;
      return checkSource(
        readSource(definition),
        {
          checkConnections: false,
          checkWorkflows: true,
          selfId: id,
          asPublished,
          unavailable,
          ...(signal && { signal }),
        },
        resources,
        graph,
      );
    }
  }

  /** Checks the inputs and mocks that were passed with the definition, and evaluates it with the mocks. */
  async function checkArguments(
    { inputs: passed, inputsAsWritten = false, mocks, given, selfId }: CheckOptions,
    { steps, expected, inputs, state, written }: Parts,
  ): Promise<CheckedArguments> {
    const { validator } = inputs;
    const issues = given === undefined ? [] : outputIssues(given, expected, ["given"]);
    if ((passed === undefined && mocks === undefined) || validator === undefined)
      return { issues, inDocument: [] };
    const parsed = validator.parse(passed ?? {}, inputsAsWritten);
    if ("issues" in parsed) issues.push(...parsed.issues.map((issue) => prefixPath(["inputs"], issue)));
    const value = "value" in parsed ? parsed.value : undefined;
    const checked: CheckedArguments = {
      issues,
      inDocument: [],
      ...(value !== undefined && { inputs: value }),
    };
    if (mocks === undefined) return checked;
    issues.push(...outputIssues(mocks, expected, ["mocks"]));
    if (hasErrors(issues) || value === undefined) return checked;
    const now = clock.now();
    const { output } = written;
    const result = previewOf({
      steps,
      order: expected.order,
      output,
      inputs: value,
      state,
      mocks,
      selfId,
      now,
    });
    return { ...checked, inDocument: result.issues, preview: result.preview };
  }

  return {
    async check(given, options, resources = ownResources) {
      const check = (source: Source): Promise<Report> => {
        options.signal?.throwIfAborted();
        return checkSource(source, options, resources);
      };
      const written = readSource(given);
      const withText = (report: Report): Report => {
        if (options.baseText === undefined || report.definition === null) return report;
        const text = definitionText(
          { source: given, value: written.value },
          report.definition,
          options.baseText,
        );
        return text === undefined ? report : { ...report, text };
      };
      const first = await check(written);
      if (options.applyFixes !== true) return withText(first);
      // A fixed definition is no text any more: it does not say how its values were written.
      const follow = misreadFollower(written, first.warnings);
      const { report, applied } = await applyFixes(given, async (source, fixes) => {
        if (fixes.length === 0) return first;
        const { misread, lost } = follow(fixes);
        const fixed = await check({ ...readSource(source), misread });
        return { ...fixed, warnings: [...fixed.warnings, ...lost] };
      });
      return withText({ ...report, applied_fixes: applied });
    },
  };
}

interface Parts {
  steps: readonly ParsedStep[];
  expected: ExpectedOutputs;
  inputs: CheckedInputs;
  state: CheckedState;
  written: Readonly<Record<string, unknown>>;
}

interface CheckedArguments extends Pick<Report, "inputs" | "preview"> {
  issues: LocatedIssue[];
  /** Issues of the definition, found by evaluating it. */
  inDocument: readonly LocatedIssue[];
}

const unreadable = ({ issues }: Source): Report => ({
  valid: false,
  errors: issues,
  warnings: [],
  definition: null,
  parsed: null,
  file: {},
  inputs_shape: ANY,
  output_shape: ANY,
  output_type: typeText(ANY),
  steps: [],
});

/** Whether an issue is about a value that could not be read as it is written. */
const isAbout = ({ path }: LocatedIssue, unread: readonly LocatedIssue[]): boolean =>
  unread.some((other) => other.path.every((part, index) => part === path[index]));

/** Checks the inputs. If another schema is meant, the issues say so, and the rest is checked with that one. */
function checkIntendedInputs(schema: unknown): CheckedInputs {
  const inputs = checkInputs(schema);
  const intended = inputs.issues.length > 0 ? intendSchema(schema, true) : undefined;
  return intended === undefined ? inputs : { ...checkInputs(intended), issues: inputs.issues };
}

const hasIssue = (issues: readonly LocatedIssue[], field: string): boolean =>
  issues.some(({ path }) => path[0] === field);

const isObject = (value: unknown): value is Parts["written"] =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function withoutFileFields(written: Parts["written"], file: boolean): Record<string, unknown> {
  const fields = Object.entries(written).filter(([key]) => !file || !Object.hasOwn(FILE_FIELDS, key));
  return Object.fromEntries(fields);
}

/** Returns null unless the whole definition matches its schema. */
function parsedOf({ topLevel, steps, issues }: ParsedDefinition): Definition | null {
  const parsed = steps.map((step) => step.parsed);
  if (topLevel === undefined || issues.length > 0 || parsed.includes(undefined)) return null;
  return { ...topLevel, steps: parsed as StepDefinition[] };
}
