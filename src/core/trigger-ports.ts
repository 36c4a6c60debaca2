/** The interfaces of the store for triggers and their deliveries. The rules for transactions in run-ports.ts hold. */
import type { TriggerDeliveryStatus } from "../../schemas/trigger-delivery.ts";
import type { Trigger } from "../../schemas/trigger.ts";
import type { ReceivedEvent } from "./event-path.ts";
import type { KeyLimits } from "./access.ts";
import type { ListPosition, RunActor } from "./model.ts";
import type { PersonalCause } from "./run-causes.ts";
import type { EngineWriters } from "./run-ports.ts";
import type { Applied } from "./transactions.ts";
import type { SignedRequest } from "./webhook-signatures/index.ts";

export interface TriggerRecord {
  id: string;
  workflowId: string;
  /** That of its workflow. */
  project: string;
  /** Its id in the definition. */
  name: string;
  /** The published version that has it; the last one that had it, while it is removed. */
  version: number;
  /** Whether no published version has it. */
  removed: boolean;
  /** Whether its workflow is archived, which removes it. */
  archived: boolean;
  /** How often its URL was replaced. */
  rotation: number;
  createdAt: string;
  rotatedAt: string | null;
  /** Whom its runs belong to. */
  actor: Omit<RunActor, "surface" | "client">;
}

export interface TriggerReader {
  find(id: string): Promise<TriggerRecord | undefined>;
  /** The triggers of the published version of a workflow, by name. */
  ofWorkflow(workflowId: string): Promise<TriggerRecord[]>;
}

export interface TriggerWriter extends TriggerReader {
  /**
   * Makes these the triggers of a workflow: others are removed, and those that were there before keep their ids.
   * Locks their rows.
   */
  save(
    triggers: Pick<TriggerRecord, "workflowId" | "version" | "actor">,
    names: readonly string[],
    createdAt: string,
  ): Promise<void>;
  /** Removes all triggers of a workflow, until a published version has them again. */
  removeAll(workflowId: string): Promise<void>;
  /** Replaces the URL of a trigger. @returns false when another caller has replaced it since it was read */
  rotate(trigger: Pick<TriggerRecord, "id" | "rotation">, rotatedAt: string): Promise<Applied>;
}

/** What a token leads to: a trigger of a published version, as that version declares it. */
export interface TriggerTarget {
  record: TriggerRecord;
  trigger: Trigger;
}

/** The answer to a delivery; a repeated one gets the same. */
interface TriggerDeliveryReceipt {
  deliveryId: string;
  /** The run that it starts, unless `if` is false or its inputs don't fit. */
  runId: string;
  receivedAt: string;
  /** Whether it repeats one that was recorded before. */
  repeated: boolean;
}

/** Receives deliveries. The token in the URL and the signature are all that a sender needs. */
export interface TriggersApi {
  /** The URL of a trigger. */
  url(trigger: Pick<TriggerRecord, "id" | "rotation">): Promise<string>;
  /**
   * Finds the trigger that a token belongs to.
   * @throws AppError trigger_not_found for a token that is not the current one of a trigger; trigger_not_published
   *   while no published version has the trigger; trigger_gone for one of an archived workflow
   */
  find(token: string): Promise<TriggerTarget>;
  /**
   * Checks the signature of a request.
   * @returns the id that its headers give the delivery; null without one
   * @throws AppError signature_invalid, secret_unavailable
   */
  checkSignature(target: TriggerTarget, request: SignedRequest): Promise<string | null>;
  /**
   * Signs the token of a check that is not signed itself. Only for a text that is no delivery of the trigger.
   * @returns HMAC-SHA256 with the first of its secrets, base64
   * @throws AppError secret_unavailable, signature_invalid
   */
  signToken(target: TriggerTarget, token: string): Promise<string>;
  /**
   * Signs a text with the secret that a request is signed with: a sender wants to see that we know it.
   * @returns HMAC-SHA256, hexadecimal
   * @throws AppError signature_invalid for a request without a valid signature, secret_unavailable
   */
  signChallenge(target: TriggerTarget, request: SignedRequest, text: string): Promise<string>;
  /** Whether a text is the verify token that the handshake of a trigger names. @throws AppError secret_unavailable */
  isVerifyToken(target: TriggerTarget, text: string): Promise<boolean>;
  /**
   * Records a delivery, which an executor then starts a run for. A repeated one is counted, unless the first has ended without
   * a run.
   * @throws AppError signature_invalid where the signed time in its body is too old; invalid_input without the value that
   *   `deduplicate` reads, too_many_runs, storage_limit_reached, storage_full
   */
  receive(target: TriggerTarget, received: Received): Promise<TriggerDeliveryReceipt>;
  /** Records that a delivery was refused, if that is not too often. Never throws. */
  recordRefusal(
    target: TriggerTarget,
    refusal: { code: string; reason: string; bytes: number },
  ): Promise<void>;
  /**
   * What refuses deliveries before they are recorded.
   * @param actor whom the run would belong to; default: who published the trigger
   * @throws AppError too_many_runs, storage_full
   */
  assertMayStart(trigger: TriggerRecord, actor?: Pick<RunActor, "owner" | "lineage">): Promise<void>;
  /**
   * Records a delivery again that was received before, so that the version that is published now handles it.
   * @throws AppError as for `receive`
   */
  redeliver(
    tx: EngineWriters,
    target: TriggerRecord,
    delivery: TriggerDeliveryRecord,
    options: { event: ReceivedEvent; by: Omit<Redeliverer, "earlier"> },
  ): Promise<TriggerDeliveryRecord>;
}

/** Who delivered a delivery again. */
interface Redeliverer {
  owner: string;
  keyName: string;
  lineage: string;
  /** What the key is limited to; null for nothing. */
  limits: KeyLimits | null;
  /** The others who delivered it again before, the first one first; left out where there is none. */
  earlier?: readonly PersonalCause[];
}

/** A request that its signature belongs to. */
interface Received {
  event: ReceivedEvent;
  /** The id that its headers give it. */
  senderId: string | null;
  /** Length of the body, in bytes. */
  bytes: number;
}

export interface TriggerDeliveryRecord {
  id: string;
  triggerId: string;
  workflowId: string;
  receivedAt: string;
  status: TriggerDeliveryStatus;
  /** The id of the run that it starts, chosen when it was received; null for a refused one. */
  runId: string | null;
  /** The digest of what a repetition has in common with it; null where there is nothing. */
  key: string | null;
  senderId: string | null;
  code: string | null;
  reason: string | null;
  /** Length of its body, in bytes. */
  bytes: number;
  repeats: number;
  /** The delivery that was sent again: by its sender after it had started no run, or by hand. */
  redeliveryOf: string | null;
  /** Who delivered it again by hand; null for what a sender has sent. */
  redeliveredBy: Redeliverer | null;
  /** Whether it had a valid signature; null where an older release received it. */
  isSigned: boolean | null;
  attempts: number;
  /** Whether what was received is still stored. */
  hasEvent: boolean;
}

export type NewTriggerDelivery = Omit<TriggerDeliveryRecord, "repeats" | "attempts" | "hasEvent"> & {
  /** Null for a refused one. */
  event: ReceivedEvent | null;
};

/** How a delivery ended. */
export interface TriggerDeliveryEnd {
  status: Extract<TriggerDeliveryStatus, "started" | "filtered" | "failed">;
  code: string | null;
  reason: string | null;
}

/** Which deliveries a list has. */
export interface TriggerDeliveryFilter {
  workflowId: string;
  triggerId?: string | undefined;
  status?: TriggerDeliveryStatus | undefined;
}

export interface TriggerDeliveryReader {
  find(id: string): Promise<TriggerDeliveryRecord | undefined>;
  /** What was received; undefined when it is no longer stored. */
  event(id: string): Promise<ReceivedEvent | undefined>;
  /** Newest first. */
  page(query: {
    filter: TriggerDeliveryFilter;
    after: ListPosition | null;
    limit: number;
  }): Promise<{ items: TriggerDeliveryRecord[]; next: ListPosition | null }>;
  /** Counts up to one more than `MAX_TOTAL`. */
  count(filter: TriggerDeliveryFilter): Promise<number>;
  /** Whether a delivery may be claimable at `now`. */
  hasDue(now: string): Promise<boolean>;
  /** Number of deliveries of a trigger that have not ended, with the bytes of their bodies. */
  unended(triggerId: string): Promise<{ count: number; bytes: number }>;
}

export interface TriggerDeliveryWriter extends TriggerDeliveryReader {
  /**
   * Records a delivery, which is due at once unless it is refused. The repetition of one that ended without a run takes over its
   * key: it is recorded as a delivery of its own, with `redeliveryOf`, and evaluated.
   *
   * Guarantee: of all deliveries with one key to one trigger, one is recorded until it has ended without a run.
   * Concurrent callers: wait, then get the recorded one.
   * @returns the delivery that has the key already, with its repetitions counted; undefined when this one was recorded
   */
  record(delivery: NewTriggerDelivery): Promise<TriggerDeliveryRecord | undefined>;
  /**
   * Claims due deliveries until `until`, the oldest first. After that, others may claim them.
   *
   * Guarantee: a delivery is claimed by one caller at a time, and each claim raises `attempts`.
   * Concurrent callers: skip deliveries that another transaction has locked.
   */
  claim(options: { now: string; until: string; limit: number }): Promise<TriggerDeliveryRecord[]>;
  /**
   * Ends a claimed delivery, in the transaction that starts its run.
   *
   * Guarantee: of all calls for one delivery, one returns true: a delivery starts one run.
   * @returns false when the claim was lost; the caller must then write nothing
   */
  endClaimed(
    claimed: Pick<TriggerDeliveryRecord, "id" | "attempts">,
    end: TriggerDeliveryEnd,
    at: string,
  ): Promise<Applied>;
  /** Makes a claimed delivery due later. @param why shown until it ends @returns false when the claim was lost */
  postponeClaimed(
    claimed: Pick<TriggerDeliveryRecord, "id" | "attempts">,
    nextAt: string,
    why?: Pick<TriggerDeliveryEnd, "code" | "reason">,
  ): Promise<Applied>;
  /** Deletes the bodies that the newest deliveries of a trigger leave no room for. */
  prune(triggerId: string): Promise<void>;
  /** Deletes the oldest deliveries of a trigger that were refused with this code; those with other codes keep their room. */
  pruneRefused(triggerId: string, code: string): Promise<void>;
}
