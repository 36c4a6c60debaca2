/**
 * Receives deliveries to triggers. A listener checks and records them; it evaluates no expressions. The id of the run is
 * chosen here, so that a repeated delivery gets the same answer; an executor starts the run (executor/start-deliveries.ts).
 */
import type { Signature } from "../../../../schemas/signature.ts";
import { ENDED_WITHOUT_RUN } from "../../../../schemas/trigger-delivery.ts";
import type { Trigger } from "../../../../schemas/trigger.ts";
import { iso, SECOND } from "../../../core/clock.ts";
import type { ConnectionViews } from "../../../core/connection-views.ts";
import { AppError } from "../../../core/errors.ts";
import { newTriggerDeliveryId, newRunId } from "../../../core/ids.ts";
import type { RunActor } from "../../../core/model.ts";
import type { EngineReaders, EngineTransaction, EngineWriters } from "../../../core/run-ports.ts";
import type {
  TriggerDeliveryRecord,
  NewTriggerDelivery,
  TriggerRecord,
  TriggersApi,
} from "../../../core/trigger-ports.ts";
import type { TriggerTokens } from "../../../core/trigger-tokens.ts";
import { distinctCauses, isPersonal, redeliverersOf } from "../../../core/run-causes.ts";
import { usageSubjectOf } from "../../../core/usage-limits.ts";
import type { QueueAdmission } from "../queue-admission.ts";
import type { RunContext } from "../run-context.ts";
import {
  assertRecent,
  assertSigned,
  isSecret,
  notSigned,
  signChallenge,
  signToken,
} from "../signed-requests.ts";
import { deliveryKey, senderIdOf } from "./delivery-key.ts";

/** Maximum number of deliveries of a trigger that have not ended. */
const MAX_UNENDED = 1_000;
/** Maximum bytes of their bodies together. */
const MAX_UNENDED_BYTES = 64 * 1024 * 1024;
/** When a sender may try again, in seconds. */
const RETRY_AFTER_S = 30;
/** Shortest time between two refusals of a trigger with one code that are recorded, in milliseconds: anybody can cause them. */
const REFUSAL_INTERVAL_MS = SECOND;
/** Maximum number of triggers and codes whose last refusal is known. */
const MAX_REFUSED = 1_000;

interface Options {
  context: RunContext;
  read: EngineReaders;
  transaction: EngineTransaction;
  views: ConnectionViews;
  assertMayStart: QueueAdmission;
  tokens: TriggerTokens;
  url: TriggersApi["url"];
  /** Wakes the executors after a commit that has added deliveries. */
  wake(): void;
}

export function triggersApi(options: Options): TriggersApi {
  const { context, read, transaction, views, tokens, url, wake } = options;
  const { clock } = context;
  const refusedAt = new Map<string, number>();
  const compiledOf = ({ workflowId, version }: TriggerRecord) =>
    context.definitionCache.get({ id: "", workflowId, version, definition: null }, read.runs);

  const expectedOf = (record: TriggerRecord, signature: Signature) => ({
    project: record.project,
    signature,
    url: () => url(record),
  });

  return {
    url,

    async find(token) {
      const id = tokens.idIn(token);
      const record = id === undefined ? undefined : await read.triggers.find(id);
      if (record === undefined || !tokens.isCurrent(token, record)) throw triggerNotFound();
      const trigger = record.removed ? undefined : await declared(record);
      if (trigger === undefined) throw record.archived ? triggerGone() : notPublished();
      return { record, trigger };
    },

    checkSignature: async ({ record, trigger: { signature } }, request) =>
      signature === undefined ? null : assertSigned({ views, clock }, expectedOf(record, signature), request),

    async signChallenge({ record, trigger: { signature } }, request, text) {
      if (signature === undefined) throw notSigned();
      return signChallenge({ views, clock }, expectedOf(record, signature), request, text);
    },

    async signToken({ record, trigger: { signature } }, token) {
      if (signature === undefined) throw notSigned();
      return signToken({ views }, expectedOf(record, signature), token);
    },

    async isVerifyToken({ record, trigger: { handshake } }, text) {
      const name = handshake?.verify_token;
      return name !== undefined && isSecret({ views }, { project: record.project, secret: name }, text);
    },

    async receive({ record, trigger }, { event, senderId: inHeaders, bytes }) {
      assertRecent({ clock }, trigger.signature, event);
      const senderId = senderIdOf(trigger, event, inHeaders);
      const key = deliveryKey(trigger, event, senderId);
      await assertMayStart(record);
      const isSigned = trigger.signature !== undefined;
      const delivery = newDelivery(record, { event, senderId, key, bytes, isSigned });
      const recorded = await transaction((tx) => add(tx, record, delivery));
      wake();
      const { id, runId, receivedAt } = recorded;
      return { deliveryId: id, runId: runId!, receivedAt, repeated: id !== delivery.id };
    },

    async recordRefusal({ record }, { code, reason, bytes }) {
      const now = performance.now();
      const kind = `${record.id} ${code}`;
      if (now - (refusedAt.get(kind) ?? -Infinity) < REFUSAL_INTERVAL_MS) return;
      if (refusedAt.size >= MAX_REFUSED) refusedAt.clear();
      refusedAt.set(kind, now);
      const refused: NewTriggerDelivery = {
        ...newDelivery(record, { event: null, senderId: null, key: null, bytes, isSigned: null }),
        status: "refused",
        runId: null,
        code,
        reason,
      };
      try {
        await transaction(async (tx) => {
          await tx.triggerDeliveries.record(refused);
          await tx.triggerDeliveries.pruneRefused(record.id, code);
        });
      } catch (err) {
        context.log.warn({ err, workflow_id: record.workflowId }, "refused delivery not recorded");
      }
    },

    assertMayStart,

    async redeliver(tx, record, first, { event, by }) {
      const { id, status, senderId, key, bytes, isSigned } = first;
      // With the key of one that started nothing, so that a repetition by the sender starts no second run.
      const taken = ENDED_WITHOUT_RUN.includes(status) ? key : null;
      const again = newDelivery(record, { event, senderId, key: taken, bytes, isSigned });
      // Recorded with each delivery, because those before it are purged.
      const earlier = distinctCauses(redeliverersOf(first)).filter(isPersonal);
      const redeliveredBy = earlier.length === 0 ? by : { ...by, earlier };
      return add(tx, record, { ...again, redeliveryOf: id, redeliveredBy });
    },
  };

  async function assertMayStart(
    record: TriggerRecord,
    actor: Parameters<typeof usageSubjectOf>[0] = record.actor,
  ): Promise<void> {
    const { priority = 0 } = (await compiledOf(record)).definition;
    await options.assertMayStart({ owner: usageSubjectOf(actor), priority });
  }

  async function declared(record: TriggerRecord): Promise<Trigger | undefined> {
    const { definition } = await compiledOf(record);
    return definition.triggers?.find(({ id }) => id === record.name);
  }

  function newDelivery(
    { id, workflowId }: TriggerRecord,
    received: Pick<NewTriggerDelivery, "event" | "senderId" | "key" | "bytes" | "isSigned">,
  ): NewTriggerDelivery {
    return {
      id: newTriggerDeliveryId(),
      triggerId: id,
      workflowId,
      receivedAt: iso(clock.now()),
      status: "received",
      runId: newRunId(),
      code: null,
      reason: null,
      redeliveryOf: null,
      redeliveredBy: null,
      ...received,
    };
  }

  /** Records a delivery, or counts it as the repetition of another one. @returns the one that is recorded */
  async function add(
    tx: EngineWriters,
    record: TriggerRecord,
    delivery: NewTriggerDelivery,
  ): Promise<TriggerDeliveryRecord> {
    // First, so that a repetition gets its answer although nothing more may start now.
    const first = await tx.triggerDeliveries.record(delivery);
    if (first !== undefined) return first;
    const { count, bytes } = await tx.triggerDeliveries.unended(record.id);
    if (count > MAX_UNENDED || (count > 1 && bytes > MAX_UNENDED_BYTES)) throw tooManyUnended(count);
    const { project } = record;
    const run = {
      project,
      actor: actorOfDelivery(record, delivery),
      parent: null,
      trigger: "webhook",
    } as const;
    const refused = await context.startLimits.refusal(tx, run);
    if (refused !== undefined) throw refused;
    await tx.triggerDeliveries.prune(record.id);
    const { event, ...recorded } = delivery;
    return { ...recorded, repeats: 0, attempts: 0, hasEvent: event !== null };
  }
}

/** The client of the runs that webhooks start. */
const WEBHOOK_CLIENT = "webhook";

/** Whom the run of a delivery belongs to: who delivered it again, else who published the trigger. */
export function actorOfDelivery(
  { actor }: Pick<TriggerRecord, "actor">,
  { redeliveredBy }: Pick<TriggerDeliveryRecord, "redeliveredBy">,
): RunActor {
  const { owner, keyName, lineage } = redeliveredBy ?? actor;
  return { owner, keyName, lineage, surface: "rest", client: WEBHOOK_CLIENT };
}

const triggerNotFound = (): AppError =>
  new AppError(
    "trigger_not_found",
    "There is no trigger with this URL. Check that it is complete, and that it was not replaced since.",
  );

/**
 * Senders that follow REST Hooks or Standard Webhooks delete a subscription that gets 410. So only an archived workflow has it: a
 * workflow that is unpublished for a while answers 404, which does not say whether it lasts (RFC 9110, section 15.5.5).
 */
const triggerGone = (): AppError =>
  new AppError(
    "trigger_gone",
    "The workflow of this trigger is archived. Remove the URL at the sender, or restore and publish the workflow to use it again.",
  );

const notPublished = (): AppError =>
  new AppError(
    "trigger_not_published",
    "No published version of the workflow has this trigger now. Publish one to use its URL again.",
  );

const tooManyUnended = (count: number): AppError =>
  new AppError(
    "too_many_runs",
    `${count - 1} deliveries of this trigger wait for their runs to start. Nothing was recorded: send it again later.`,
    { headers: { "Retry-After": String(RETRY_AFTER_S) } },
  );
