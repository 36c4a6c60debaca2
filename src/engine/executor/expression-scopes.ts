/** Loads the values that expressions of a run can refer to: its inputs, the run itself, outputs of steps, the item. */
import { LRUCache } from "lru-cache";
import type { RunError } from "../../../schemas/run.ts";
import type { EncodedJson } from "../../core/encoded-json.ts";
import type { EventsApi } from "../../core/event-ports.ts";
import { formatPath } from "../../core/issues.ts";
import { GIVEN, type RunRecord, type StepRef, type Trial } from "../../core/model.ts";
import { CHUNK_ITEMS, type RunReader } from "../../core/run-ports.ts";
import { type StepState, toStepStatus } from "../../core/step-states.ts";
import { StepError } from "../../core/step-errors.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { Validation } from "../../core/validation.ts";
import type { StateDeclaration } from "../../core/workflow-state.ts";
import type { Scope } from "../definition/expressions/types.ts";
import type { Plan, PlannedStep } from "../definition/plan.ts";
import {
  emptyOutput,
  errorValue,
  givenItem,
  givenValue,
  listed,
  skippedOutput,
} from "../definition/step-value.ts";

/** The value of `run` in expressions. */
const runScope = (
  run: Pick<RunRecord, "id" | "workflowId" | "trigger" | "createdAt" | "startedAt" | "scheduledFor">,
  eventUrls: Readonly<Record<string, string>>,
) => ({
  id: run.id,
  workflow_id: run.workflowId,
  trigger: run.trigger,
  started_at: run.startedAt ?? run.createdAt,
  scheduled_for: run.scheduledFor,
  event_urls: eventUrls,
});

type StepEnd = { state: StepState; error: RunError | null; output: Record<string, unknown> | null };

const stepValue = (planned: PlannedStep, { state, error, output }: StepEnd): Record<string, unknown> => ({
  ...(output ?? emptyOutput(planned)),
  status: toStepStatus(state),
  error: errorValue(error),
});

/** Maximum number of parsed values of each kind in memory. All items of a fan-out read the same ones. */
const MAX_CACHED = 8;

/** Maximum size of the outputs that the expressions of a step read together, in characters of JSON. */
const MAX_SCOPE_CHARS = 64 * 1024 * 1024;

/** The output of a step as expressions see it. */
interface LoadedOutput {
  value: Record<string, unknown>;
  /** Its size, in characters of JSON. */
  chars: number;
}

type OutputOf = (plan: Plan, run: RunRecord, id: string) => Promise<LoadedOutput>;

/** The output of a step that has ended without items. */
function endedOutput(
  planned: PlannedStep,
  { state, error, output: json }: EndedStep & { error: RunError | null },
): LoadedOutput {
  if (planned.forEach !== null || planned.repeat !== null) {
    // The step was skipped, or its list or the start of its loop failed to evaluate.
    const output =
      state === "skipped" || planned.repeat === null ? skippedOutput(planned) : listed(planned, []);
    return { value: { status: toStepStatus(state), error: errorValue(error), ...output }, chars: 0 };
  }
  const output = json === null ? null : (JSON.parse(json.text) as Record<string, unknown> | null);
  return { value: stepValue(planned, { state, error, output }), chars: json?.text.length ?? 0 };
}

const scopeTooLarge = (chars: number): StepError =>
  new StepError(
    "expression_limit",
    `The expressions read outputs of ${chars} characters of JSON or more; at most ${MAX_SCOPE_CHARS} are allowed.`,
    { fix: "Read fewer or smaller outputs, for example by a step that reduces each of them first." },
  );

/** Caches values by key. A value that fails to load is loaded again. */
function cached<T>(): (key: string, load: () => Promise<T>) => Promise<T> {
  const cache = new LRUCache<string, Promise<T>>({ max: MAX_CACHED });
  return (key, load) => {
    const cachedValue = cache.get(key);
    if (cachedValue !== undefined) return cachedValue;
    const loading = load();
    cache.set(key, loading);
    loading.catch(() => cache.delete(key));
    return loading;
  };
}

export interface ExpressionScopes {
  /**
   * Loads the scope of a step, or of one item of its fan-out, with the outputs of the steps in `reads`.
   * @throws StepError expression_limit when these are too large together
   */
  loadScope(
    plan: Plan,
    run: RunRecord,
    reads: Iterable<string>,
    ref?: { stepId: string; item: number | null },
  ): Promise<Scope>;
  /** The same scopes with the outputs of steps that have ended and are not recorded yet, by step id. It may grow. */
  withOutputs(outputs: ReadonlyMap<string, EndedStep>): ExpressionScopes;
  /** Loads the output that a trial was given for a step, as its author wrote it; undefined if it was given none. */
  givenFor(step: Omit<StepRef, "item">): Promise<GivenOutput | undefined>;
  /** Loads the output of one step as expressions see it. */
  stepValue(plan: Plan, run: RunRecord, id: string): Promise<Record<string, unknown>>;
  /** Loads the output of one item or iteration that has ended, as `result` of expressions that are evaluated after it. */
  resultOf(plan: Plan, ref: StepRef): Promise<{ value: Record<string, unknown>; reusedFrom: string | null }>;
}

/** The output that a trial was given for a step. */
type GivenOutput = Trial["given"][string];

/** How a step has ended. */
export interface EndedStep {
  state: StepState;
  output: EncodedJson | null;
}

/** Values are cached without expiry: the record of a step that has ended never changes. */
export function expressionScopes(
  runs: RunReader,
  eventUrl: EventsApi["url"],
  validation: Validation,
): ExpressionScopes {
  const outputs = cached<LoadedOutput>();
  const chunks = cached<unknown[]>();
  const inputs = cached<Record<string, unknown>>();
  const states = cached<Record<string, unknown>>();
  const trials = cached<Trial["given"]>();
  const sources = cached<RunRecord>();

  async function givenFor({ runId, stepId }: Omit<StepRef, "item">): Promise<GivenOutput | undefined> {
    const given = await trials(runId, async () => (await runs.trial(runId))!.given);
    return Object.hasOwn(given, stepId) ? given[stepId] : undefined;
  }

  async function loadOutput(plan: Plan, run: RunRecord, id: string): Promise<LoadedOutput> {
    const position = plan.compiled.position.get(id)!;
    const planned = plan.steps[position]!;
    const ref = { runId: run.id, stepId: id, item: null };
    const record = await runs.step(ref);
    const state = record?.state ?? run.stepStates.at(position);
    const error = record?.error ?? null;
    const ended = { status: toStepStatus(state), error: errorValue(error) };
    if (record !== undefined && record.items !== null) {
      const given = run.isTrial && run.replay === null ? await givenFor(ref) : undefined;
      const items = (await runs.itemOutputs(ref)).map((item) =>
        given === undefined ? stepValue(planned, item) : givenItem(planned, given),
      );
      return { value: { ...ended, ...listed(planned, items) }, chars: record.items.bytes };
    }
    if (record?.reusedFrom === GIVEN) {
      const { text } = (await runs.outputJson(ref))!;
      const value = { ...givenValue(planned, JSON.parse(text) as Record<string, unknown>), ...ended };
      return { value, chars: text.length };
    }
    const hasOutput = record !== undefined && planned.forEach === null && planned.repeat === null;
    return endedOutput(planned, { state, error, output: hasOutput ? await runs.outputJson(ref) : null });
  }

  const recorded: OutputOf = (plan, run, id) => outputs(`${run.id} ${id}`, () => loadOutput(plan, run, id));

  /** @throws StepError expression_limit */
  async function loadOutputs(
    outputOf: OutputOf,
    plan: Plan,
    run: RunRecord,
    reads: Iterable<string>,
  ): Promise<Record<string, unknown>> {
    const values: Record<string, unknown> = {};
    let total = 0;
    for (const id of reads) {
      const { value, chars } = await outputOf(plan, run, id);
      total += chars;
      if (total > MAX_SCOPE_CHARS) throw scopeTooLarge(total);
      values[id] = value;
    }
    return values;
  }

  async function loadItem(runId: string, stepId: string, item: number): Promise<unknown> {
    const chunk = Math.floor(item / CHUNK_ITEMS);
    const items = await chunks(`${runId} ${stepId} ${chunk}`, () => runs.itemChunk({ runId, stepId }, chunk));
    return items[item % CHUNK_ITEMS];
  }

  /**
   * The value of `run`: in a backtest that of the run of the past, whose times and id its outputs are made of. Like the steps of any
   * run, the first ones see when it was created instead of when it started.
   */
  async function shownRun(plan: Plan, run: RunRecord): Promise<ReturnType<typeof runScope>> {
    const { replay } = run;
    if (replay === null) return runScope(run, await urlsOf(plan, run.id));
    const source = await sources(replay.runId, async () => (await runs.find(replay.runId)) ?? run);
    const startedAt = run.startedAt && source.startedAt;
    return runScope({ ...source, startedAt, workflowId: run.workflowId }, await urlsOf(plan, source.id));
  }

  /** The URLs of the events that the steps of a run wait for, by step id. */
  async function urlsOf({ compiled }: Plan, runId: string): Promise<Record<string, string>> {
    const urls: Record<string, string> = {};
    for (const stepId of compiled.eventStepIds) urls[stepId] = await eventUrl({ runId, stepId });
    return urls;
  }

  /** @throws StepError state_invalid: another version, with another declaration, may have written the state */
  async function loadState(
    declaration: StateDeclaration,
    { id, workflowId, actor }: RunRecord,
  ): Promise<Record<string, unknown>> {
    const values = (await runs.state(id)) ?? {};
    const [first] = await validation.stateIssues(declaration, values, { owner: usageSubjectOf(actor) });
    if (first === undefined) return values;
    throw new StepError(
      "state_invalid",
      `The stored state does not match the definition: ${formatPath(["state", ...(first.path ?? [])])} ${first.message}.`,
      { fix: `Correct the value with PUT /workflows/${workflowId}/state, or the schema in state.` },
    );
  }

  /** The variables of an iteration are one chunk, because they are saved one by one. */
  async function loadVariables(runId: string, stepId: string, index: number): Promise<object> {
    const [variables] = await chunks(`${runId} ${stepId} ${index}`, () =>
      runs.itemChunk({ runId, stepId }, index),
    );
    return variables as object;
  }

  const scopesOf = (outputOf: OutputOf): ExpressionScopes => ({
    withOutputs: (ended) =>
      scopesOf(async (plan, run, id) => {
        const step = ended.get(id);
        if (step === undefined) return outputOf(plan, run, id);
        return endedOutput(plan.steps[plan.compiled.position.get(id)!]!, { ...step, error: null });
      }),
    stepValue: async (plan, run, id) => (await outputOf(plan, run, id)).value,
    givenFor,
    async resultOf(plan, ref) {
      const record = (await runs.step(ref))!;
      const planned = plan.steps[plan.compiled.position.get(ref.stepId)!]!;
      const value = stepValue(planned, { ...record, output: await runs.output(ref) });
      return { value, reusedFrom: record.reusedFrom };
    },
    async loadScope(plan, run, reads, ref) {
      const steps = await loadOutputs(outputOf, plan, run, reads);
      const runInputs = await inputs(run.id, () => runs.inputs(run.id));
      const { state: declaration } = plan.compiled.definition;
      const scope: Scope = {
        inputs: runInputs,
        run: await shownRun(plan, run),
        steps,
        ...(declaration !== undefined && { state: await states(run.id, () => loadState(declaration, run)) }),
      };
      if (ref === undefined || ref.item === null) return scope;
      if (plan.steps[plan.compiled.position.get(ref.stepId)!]!.repeat !== null) {
        return {
          ...scope,
          loop: { ...(await loadVariables(run.id, ref.stepId, ref.item)), index: ref.item },
        };
      }
      return { ...scope, item: await loadItem(run.id, ref.stepId, ref.item), index: ref.item };
    },
  });
  return scopesOf(recorded);
}
