/** A `wait` step with `event` waits until somebody sends its event to its URL, or fails when its timeout is over. */
import { encodeJson } from "../../../core/encoded-json.ts";
import type { Issue } from "../../../../schemas/problem.ts";
import { hasStepEnded } from "../../../core/step-states.ts";
import { iso } from "../../../core/clock.ts";
import type { ConnectionViews } from "../../../core/connection-views.ts";
import { AppError } from "../../../core/errors.ts";
import type { EventReader, EventsApi, EventTarget } from "../../../core/event-ports.ts";
import type { EventTokens } from "../../../core/event-tokens.ts";
import { formatPath, invalidInput } from "../../../core/issues.ts";
import { withDeclaredLists } from "../../../core/json-schema/index.ts";
import type { RunRecord, StepRef } from "../../../core/model.ts";
import type { EngineReaders, EngineTransaction, EngineWriters, RunReader } from "../../../core/run-ports.ts";
import { usageSubjectOf } from "../../../core/usage-limits.ts";
import { StepError } from "../../../core/step-errors.ts";
import type { CompiledDefinition } from "../../definition/compiled-definition.ts";
import { eventMatch, eventSchema, eventSignature } from "../../definition/event-steps.ts";
import { assertRecent, assertSigned } from "../signed-requests.ts";
import { newJob, type RunContext } from "../run-context.ts";
import { toRunError } from "../run-error.ts";
import { isEnding } from "../run-update.ts";
import type { EndedResult } from "../step-result.ts";
import type { OutcomeWait } from "./wait-kind.ts";

export const eventWait: OutcomeWait<"event"> = {
  state: "waiting",

  prepare: async (_outcome, { inputHash, now, timeoutMs }) => ({
    kind: "event",
    inputHash,
    until: timeoutMs === null ? null : iso(now + timeoutMs),
  }),

  async begin({ update: { tx, run }, ref, attempt }, { until }) {
    const early = await tx.events.find(ref);
    if (early !== undefined) await tx.jobs.add(newJob(ref, "event", run.priority));
    // An event may not match, and then the wait goes on.
    if (until !== null) await tx.jobs.add(newJob(ref, "wake", run.priority, { dueAt: until, attempt }));
    return { waitUntil: until };
  },

  matches: async (_tx, _step, _ref, definition) => eventSchema(definition) !== undefined,

  async onTimer(context, tx, _step, ref) {
    const run = (await tx.runs.find(ref.runId))!;
    const { definition, position } = await context.definitionCache.get(run, tx.runs);
    const hasCondition = eventMatch(definition.steps[position.get(ref.stepId)!]!) !== undefined;
    // An event that is still to be compared ends the wait, or fails it, with its own job.
    if (hasCondition && (await tx.events.find(ref)) !== undefined) return undefined;
    return (await receivedResult(tx, ref)) ?? timedOut(ref);
  },
};

/** How a wait ends that no event has ended in time. */
export const timedOut = (ref: StepRef): EndedResult => ({
  kind: "failed",
  error: toRunError(eventTimeout(ref.stepId), ref),
});

/** Ends the wait of a step that has received its event. @returns undefined without an event */
export async function receivedResult(tx: EngineWriters, ref: StepRef): Promise<EndedResult | undefined> {
  const event = await tx.events.find(ref);
  if (event === undefined) return undefined;
  // Drops the timer of the timeout.
  await tx.jobs.dropStepJobs(ref);
  const step = await tx.runs.step(ref);
  const output = { body: event.body, received_at: event.receivedAt };
  return { kind: "succeeded", output: encodeJson(output), inputHash: step?.inputHash ?? null };
}

const eventTimeout = (stepId: string): StepError =>
  new StepError("event_timeout", `"${stepId}" received no event in time.`, {
    fix: "Retry the run to wait again, with a new URL, or give the step a longer timeout.",
  });

interface EventsOptions {
  context: RunContext;
  read: Pick<EngineReaders, "runs" | "events">;
  transaction: EngineTransaction;
  views: ConnectionViews;
  tokens: EventTokens;
  url: EventsApi["url"];
  /** Wakes the executors after a commit that has added jobs. */
  wake(): void;
}

export function eventsApi({
  context,
  read,
  transaction,
  views,
  tokens,
  url,
  wake,
}: EventsOptions): EventsApi {
  return {
    url,

    async find(token) {
      const ref = tokens.verify(token);
      const run = ref === undefined ? undefined : await read.runs.find(ref.runId);
      if (ref === undefined || run === undefined) throw eventNotFound();
      const compiled = await context.definitionCache.get(run, read.runs);
      if (!compiled.position.has(ref.stepId)) throw eventNotFound();
      await assertExpected(read, { run, compiled, stepId: ref.stepId, now: context.clock.now() });
      const step = compiled.definition.steps[compiled.position.get(ref.stepId)!]!;
      const { workflowId, project } = run;
      return { ...ref, workflowId, project, signature: eventSignature(step) };
    },

    async checkSignature({ project, runId, stepId }, signature, request) {
      const expected = { project, signature, url: () => url({ runId, stepId }) };
      await assertSigned({ views, clock: context.clock }, expected, request);
    },

    async receive(target, body, source = {}) {
      assertRecent(context, target.signature, { body, headers: {}, query: {} });
      const completed = await parseBody(target, body, source);
      const receivedAt = await transaction((tx) => record(tx, target, completed));
      wake();
      return receivedAt;
    },
  };

  /** Validates and completes a body outside of the transaction, because it may take long. */
  async function parseBody(
    { runId, stepId }: EventTarget,
    body: unknown,
    { issues: found = [], isForm = false }: { issues?: readonly Issue[]; isForm?: boolean },
  ): Promise<unknown> {
    const run = await read.runs.find(runId);
    if (run === undefined) throw eventNotFound();
    const { definition, position } = await context.definitionCache.get(run, read.runs);
    const schema = eventSchema(definition.steps[position.get(stepId)!]!) ?? {};
    const sent = isForm ? withDeclaredLists(schema, body) : body;
    const parsed = await context.validation.parseValue(schema, sent, { owner: usageSubjectOf(run.actor) });
    if ("value" in parsed && found.length === 0) return parsed.value;
    const mismatches = "issues" in parsed ? parsed.issues : [];
    throw invalidInput([
      ...found,
      ...mismatches.map((issue) => Object.assign({}, issue, { path: formatPath(issue.path ?? []) })),
    ]);
  }

  async function record(tx: EngineWriters, target: EventTarget, body: unknown): Promise<string> {
    const { runId, stepId } = target;
    const run = await tx.runs.lock(runId);
    if (run === undefined) throw eventNotFound();
    const compiled = await context.definitionCache.get(run, tx.runs);
    const now = context.clock.now();
    const isWaiting = await assertExpected(tx, { run, compiled, stepId, now });
    const receivedAt = iso(now);
    if (!(await tx.events.receive(target, { receivedAt, body }))) throw alreadyReceived();
    const ref: StepRef = { runId, stepId, item: null };
    if (isWaiting) await tx.jobs.add(newJob(ref, "event", run.priority));
    return receivedAt;
  }
}

/**
 * Checks that a step has not received its event, and has not ended.
 * @param now in milliseconds since 1970
 * @returns whether the step waits already; otherwise the event is kept for it
 * @throws AppError event_received
 */
async function assertExpected(
  read: { events: EventReader; runs: Pick<RunReader, "step"> },
  {
    run,
    compiled,
    stepId,
    now,
  }: { run: RunRecord; compiled: CompiledDefinition; stepId: string; now: number },
): Promise<boolean> {
  const ref: StepRef = { runId: run.id, stepId, item: null };
  const state = run.stepStates.at(compiled.position.get(stepId)!);
  if (run.finishedAt !== null || isEnding(run) || hasStepEnded(state)) throw alreadyReceived();
  const step = compiled.definition.steps[compiled.position.get(stepId)!]!;
  if ((await read.events.find(ref)) !== undefined)
    throw eventMatch(step) === undefined ? alreadyReceived() : beingCompared();
  if (state !== "waiting") return false;
  const record = await read.runs.step(ref);
  // The timer of the timeout is due, even if no executor has claimed it yet.
  if (typeof record?.waitUntil === "string" && Date.parse(record.waitUntil) <= now) throw alreadyReceived();
  return true;
}

const eventNotFound = (): AppError =>
  new AppError("event_not_found", "There is no event with this URL. Check that it is complete.");

const beingCompared = (): AppError =>
  new AppError(
    "rate_limited",
    "Another event is being compared with match of the step. Send this one again in a second.",
    { headers: { "Retry-After": "1" } },
  );

const alreadyReceived = (): AppError =>
  new AppError(
    "event_received",
    "This event was received before, or its run no longer waits for it. A URL accepts one event.",
  );
