/**
 * Starts the runs of received deliveries. Any executor may: it claims some, evaluates `if` and the inputs of their triggers,
 * and ends each in the transaction that starts its run. A delivery of an executor that died is claimed again.
 */
import type { Logger } from "pino";
import type { Trigger } from "../../../schemas/trigger.ts";
import { DAY, HOUR, isAgreed, iso, MINUTE, SECOND } from "../../core/clock.ts";
import { AppError, type ErrorCode, isStorageUnavailable } from "../../core/errors.ts";
import { eventFieldsIn, type EventPath, readEventPath, type ReceivedEvent } from "../../core/event-path.ts";
import { formatPath } from "../../core/issues.ts";
import { withDeclaredLists } from "../../core/json-schema/index.ts";
import type { RunCause } from "../../core/model.ts";
import { oneAtATime } from "../../core/once-per.ts";
import { redeliverersOf } from "../../core/run-causes.ts";
import type { EngineReaders, EngineTransaction } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";
import type { TriggerDeliveryEnd, TriggerDeliveryRecord, TriggerRecord } from "../../core/trigger-ports.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { CompiledDefinition } from "../definition/compiled-definition.ts";
import { compileCel, compileValue, type Compiled, type Scope } from "../definition/expressions/index.ts";
import { eventValue } from "../definition/trigger-event.ts";
import type { PrepareRun } from "../run-state/prepare-run.ts";
import type { RunContext } from "../run-state/run-context.ts";
import { startRun } from "../run-state/start-run.ts";
import { actorOfDelivery } from "../run-state/triggers/receive.ts";
import type { Evaluate, Evaluator } from "./evaluator.ts";
import { toCondition } from "./step-values.ts";

/** Number of deliveries that are claimed at a time. */
const BATCH_SIZE = 8;
/** How long a claim holds without being renewed, in milliseconds. */
const CLAIM_MS = 15 * SECOND;
/** Interval of the renewals, in milliseconds. */
const RENEW_MS = 4 * SECOND;
/** The first pause before a run that could not start is tried again, and the longest one, in milliseconds. */
const FIRST_PAUSE_MS = SECOND;
const MAX_PAUSE_MS = 5 * MINUTE;
/** How long a run is tried again that limits, or the disk, did not let start, in milliseconds. */
const KEEP_TRYING_MS = DAY;
/** The same for a version that can't run now, such as when a database did not answer. */
const KEEP_CHECKING_MS = HOUR;
/** Number of executors that may die with a delivery before it is given up. */
const MAX_CRASHES = 5;
/** Maximum size of the inputs, in bytes of JSON. */
const INPUTS = { maxOutputBytes: 4 * 1024 * 1024 };
/** Maximum length of a recorded reason, in characters. */
const MAX_REASON_CHARS = 500;

/** What may let the run start later. */
const TEMPORARY: ReadonlySet<ErrorCode> = new Set(["too_many_runs", "storage_limit_reached"]);

interface Options {
  context: RunContext;
  read: EngineReaders;
  transaction: EngineTransaction;
  prepareRun: PrepareRun;
  evaluator: Evaluator;
  log: Logger;
}

export interface TriggerDeliveryStarter {
  /** Starts the runs of received deliveries. Calls while one is running are joined. @returns how many runs it started */
  startReceived(): Promise<number>;
  /** Claims no more, and waits for those that are handled now. */
  stop(): Promise<void>;
}

interface PlannedTrigger {
  trigger: Trigger;
  condition: Compiled | null;
  inputs: Compiled;
  /** The fields of the query and the body that each input reads, by the names of the inputs. */
  fields: ReadonlyMap<string, readonly EventPath[]>;
}

type Cause = Pick<TriggerDeliveryEnd, "code" | "reason">;

const causeOf = (code: string, reason: string): Cause => ({
  code,
  reason: reason.slice(0, MAX_REASON_CHARS),
});
const failed = (code: string, reason: string): TriggerDeliveryEnd => ({
  status: "failed",
  ...causeOf(code, reason),
});
const STARTED: TriggerDeliveryEnd = { status: "started", code: null, reason: null };
const FILTERED: TriggerDeliveryEnd = { status: "filtered", code: null, reason: null };

export function deliveryStarter({
  context,
  read,
  transaction,
  prepareRun,
  evaluator,
  log,
}: Options): TriggerDeliveryStarter {
  const { clock } = context;
  const plans = new WeakMap<CompiledDefinition, ReadonlyMap<string, PlannedTrigger>>();
  const state = { isStopping: false };
  const startReceived = oneAtATime(startAll);

  return {
    startReceived,
    async stop() {
      state.isStopping = true;
      await startReceived().catch(() => undefined);
    },
  };

  async function startAll(): Promise<number> {
    let count = 0;
    // With a wrong clock the other executors start them.
    while (!state.isStopping && isAgreed(clock) && (await read.triggerDeliveries.hasDue(iso(clock.now())))) {
      const now = clock.now();
      const claimed = await transaction((tx) =>
        tx.triggerDeliveries.claim({ now: iso(now), until: iso(now + CLAIM_MS), limit: BATCH_SIZE }),
      );
      if (claimed.length === 0) break;
      const results = await Promise.all(claimed.map(handleRenewing));
      count += results.filter((started) => started).length;
    }
    return count;
  }

  /** Keeps the claim of a delivery while it is handled. */
  async function handleRenewing(delivery: TriggerDeliveryRecord): Promise<boolean> {
    const timer = setInterval(() => {
      postpone(delivery, CLAIM_MS).catch((err: unknown) =>
        log.warn({ err, delivery_id: delivery.id }, "claim of a delivery not renewed"),
      );
    }, RENEW_MS).unref();
    try {
      return await handle(delivery);
    } catch (err) {
      // The claim ends by itself: the delivery is handled again.
      log.warn({ err, delivery_id: delivery.id, workflow_id: delivery.workflowId }, "delivery not handled");
      return false;
    } finally {
      clearInterval(timer);
    }
  }

  function postpone(delivery: TriggerDeliveryRecord, ms: number, why?: Cause): Promise<boolean> {
    return transaction((tx) => tx.triggerDeliveries.postponeClaimed(delivery, iso(clock.now() + ms), why));
  }

  /** @returns whether it started a run */
  async function handle(delivery: TriggerDeliveryRecord): Promise<boolean> {
    const record = await read.triggers.find(delivery.triggerId);
    let end: TriggerDeliveryEnd;
    try {
      end = await tryToStart(delivery, record);
    } catch (error) {
      const pause = pauseAfter(delivery, error);
      if (pause !== undefined) {
        const { code, message } = error as AppError | StepError;
        await postpone(delivery, pause, causeOf(code, message));
        return false;
      }
      end = endOf(error);
      if (!(await transaction((tx) => tx.triggerDeliveries.endClaimed(delivery, end, iso(clock.now())))))
        return false;
    }
    log.info(
      {
        workflow_id: delivery.workflowId,
        delivery_id: delivery.id,
        ...(end.status === "started" && { run_id: delivery.runId }),
        status: end.status,
        ...(end.code !== null && { code: end.code }),
      },
      "delivery ended",
    );
    context.meter.triggerDeliveryEnded(end.status);
    return end.status === "started";
  }

  async function tryToStart(
    delivery: TriggerDeliveryRecord,
    record: TriggerRecord | undefined,
  ): Promise<TriggerDeliveryEnd> {
    const end = async (reason: TriggerDeliveryEnd): Promise<TriggerDeliveryEnd> => {
      await transaction((tx) => tx.triggerDeliveries.endClaimed(delivery, reason, iso(clock.now())));
      return reason;
    };
    if (delivery.attempts > MAX_CRASHES && delivery.code === null)
      return end(
        failed("executor_ended", "The executors that handled it ended each time. The log says why."),
      );
    const event = await read.triggerDeliveries.event(delivery.id);
    if (record === undefined || record.removed || event === undefined)
      return end(
        record?.archived === true
          ? failed("trigger_gone", "The workflow of the trigger was archived when its run was to start.")
          : failed(
              "trigger_not_published",
              "No published version had the trigger any more when its run was to start.",
            ),
      );
    const compiled = await context.definitionCache.get(
      { id: "", workflowId: record.workflowId, version: record.version, definition: null },
      read.runs,
    );
    const planned = planOf(compiled).get(record.name);
    if (planned === undefined)
      return end(failed("trigger_not_published", "The published version has no such trigger any more."));
    if (
      planned.trigger.signature !== undefined &&
      delivery.isSigned === false &&
      delivery.redeliveredBy === null
    )
      return end(
        failed(
          "signature_invalid",
          "The trigger expects a signature now, and the delivery came without one.",
        ),
      );
    const actor = actorOfDelivery(record, delivery);
    const owner = usageSubjectOf(actor);
    const { payload } = planned.trigger;
    const sent = event.isForm === true ? withDeclaredLists(payload, event.body) : event.body;
    const parsed =
      payload === undefined ? { value: sent } : await context.validation.parseValue(payload, sent, { owner });
    const body = "value" in parsed ? parsed.value : sent;
    const evaluate = evaluator.forJob(owner);
    const scope: Scope = {
      inputs: {},
      run: {
        id: delivery.runId,
        workflow_id: record.workflowId,
        trigger: "webhook",
        started_at: iso(clock.now()),
        scheduled_for: null,
      },
      steps: {},
      event: eventValue({ ...event, body }, { id: delivery.senderId, receivedAt: delivery.receivedAt }),
    };
    if (!(await holds(planned, evaluate, scope, "value" in parsed))) return end(FILTERED);
    if ("issues" in parsed) {
      const listed = parsed.issues
        .slice(0, 3)
        .map(({ path = [], message }) => `${formatPath(["body", ...path])} ${message}`);
      return end(failed("payload_invalid", `The body does not match payload: ${listed.join("; ")}.`));
    }
    const inputs = withListInputs(
      compiled.definition.inputs,
      planned,
      event,
      (await evaluate(planned.inputs, scope)) as Record<string, unknown>,
    );
    const prepared = await prepareRun({
      workflowId: record.workflowId,
      runId: delivery.runId!,
      caller: null,
      version: record.version,
      inputs,
      keyLimits: delivery.redeliveredBy?.limits,
      causes: causesOfDelivery(delivery, planned.trigger),
      actor,
      trigger: "webhook",
    });
    const isOurs = await transaction(async (tx) => {
      if (!(await tx.triggerDeliveries.endClaimed(delivery, STARTED, iso(clock.now())))) return false;
      await startRun(context, tx, prepared);
      return true;
    });
    if (!isOurs) throw new Error("another executor has claimed the delivery");
    return STARTED;
  }

  /** Whether `if` is true. Where the body does not match, one that can't be evaluated says nothing: then that is the reason. */
  async function holds(
    { condition }: PlannedTrigger,
    evaluate: Evaluate,
    scope: Scope,
    isBodyValid: boolean,
  ): Promise<boolean> {
    if (condition === null) return true;
    try {
      return toCondition(await evaluate(condition, scope), "if of the trigger");
    } catch (error) {
      if (isBodyValid || !(error instanceof StepError)) throw error;
      return true;
    }
  }

  function planOf(compiled: CompiledDefinition): ReadonlyMap<string, PlannedTrigger> {
    const known = plans.get(compiled);
    if (known !== undefined) return known;
    const plan = new Map(
      (compiled.definition.triggers ?? []).map((trigger) => [
        trigger.id,
        {
          trigger,
          condition: trigger.if === undefined ? null : compileCel(trigger.if),
          inputs: compileValue(trigger.inputs ?? {}, INPUTS),
          fields: fieldsOf(trigger.inputs ?? {}),
        },
      ]),
    );
    plans.set(compiled, plan);
    return plan;
  }

  /** How long to wait before the next attempt, in milliseconds; undefined when another one would fail as well. */
  function pauseAfter({ attempts, receivedAt }: TriggerDeliveryRecord, error: unknown): number | undefined {
    const age = clock.now() - Date.parse(receivedAt);
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempts - 1, 20), MAX_PAUSE_MS);
    if (error instanceof StepError) return error.transient && age < KEEP_TRYING_MS ? pause : undefined;
    if (!(error instanceof AppError)) throw error;
    const isTemporary = TEMPORARY.has(error.code) || isStorageUnavailable(error);
    if (isTemporary) return age < KEEP_TRYING_MS ? pause : undefined;
    return error.code === "workflow_not_runnable" && age < KEEP_CHECKING_MS ? pause : undefined;
  }
}

/** Who caused the run of a delivery: the callers who delivered it again, and anyone who knows the URL of a trigger without a signature. */
function causesOfDelivery(
  delivery: TriggerDeliveryRecord,
  { signature }: Pick<Trigger, "signature">,
): RunCause[] {
  return [
    ...((delivery.isSigned ?? signature !== undefined) ? [] : [{ kind: "unsigned" } as const]),
    ...redeliverersOf(delivery),
  ];
}

const fieldsOf = (inputs: Readonly<Record<string, unknown>>): ReadonlyMap<string, readonly EventPath[]> =>
  new Map(
    Object.entries(inputs).map(([name, source]) => [
      name,
      typeof source === "string" && source.includes("${{") ? eventFieldsIn(source) : [],
    ]),
  );

/**
 * The inputs, where a parameter or a field of a form that was sent once is a list if the inputs of the workflow declare one.
 * An input may take it in any way, such as with a default; a text that the expression makes of it stays a text.
 */
function withListInputs(
  schema: unknown,
  { fields }: PlannedTrigger,
  event: ReceivedEvent,
  inputs: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const isField = ([name, value]: readonly [string, unknown]): boolean =>
    (fields.get(name) ?? []).some(
      (path) => (path.root === "query" || event.isForm === true) && readEventPath(event, path) === value,
    );
  const taken = Object.fromEntries(Object.entries(inputs).filter(isField));
  return { ...inputs, ...(withDeclaredLists(schema, taken) as Record<string, unknown>) };
}

/** How a delivery ends whose run can't start. */
function endOf(error: unknown): TriggerDeliveryEnd {
  const { code, message } = error as AppError | StepError;
  const [first] = error instanceof AppError ? (error.details.errors ?? []) : [];
  return failed(code, first === undefined ? message : `${message} ${first.path} ${first.message}`);
}
