/** The interfaces of the store for events, the subscriptions to them, and their deliveries. The rules for transactions in run-ports.ts hold. */
import type { DeliveryState, EventType, SubscriptionFormat } from "../../schemas/subscription.ts";
import type { Visibility } from "./access.ts";
import type { ListPosition, Page } from "./model.ts";
import type { Applied } from "./transactions.ts";

export interface SubscriptionRecord {
  id: string;
  project: string;
  name: string;
  format: SubscriptionFormat;
  /** Null where the URL is the value of a secret. */
  url: string | null;
  urlSecret: string | null;
  events: readonly EventType[];
  /** Null for no filter. */
  workflows: readonly string[] | null;
  tags: readonly string[] | null;
  includeValues: boolean;
  /** Counts the rotations of the signing secret, which is derived from it. */
  generation: number;
  /** Until when deliveries are signed with the secret before the last rotation too. */
  previousUntil: string | null;
  pausedAt: string | null;
  pauseReason: string | null;
  /** When the first attempt failed since the last one that succeeded. */
  failingSince: string | null;
  succeededAt: string | null;
  createdAt: string;
  createdBy: string;
  /** The usage subject of its creator. */
  subject: string;
  /** Who last set the URL or `include_values`: values are delivered in their name. Null when nobody of this instance has. */
  confirmedBy: string | null;
  /** The lineage of the key with which they did; null for a person who was signed in, and for the command line. */
  confirmedLineage: string | null;
  confirmedAt: string | null;
}

/** What has happened. It holds names and ids, and no values of runs. */
export interface OutgoingEvent {
  type: EventType;
  project: string;
  /** Null for what belongs to no workflow. */
  workflowId: string | null;
  runId: string | null;
  /** When it happened (ISO 8601). */
  at: string;
  data: Readonly<Record<string, unknown>>;
  /** Whether only subscriptions get it that name the workflow. */
  onlyNamed?: boolean | undefined;
  /** Whether who set the URL of a subscription may know of it; left out, every admin of the project may. */
  mayKnow?: ((person: string) => Promise<boolean>) | undefined;
}

export interface EventRecord extends Omit<OutgoingEvent, "onlyNamed" | "mayKnow"> {
  id: string;
}

export interface DeliveryRecord {
  id: string;
  event: EventRecord;
  /** Null for a mail. */
  subscriptionId: string | null;
  /** The address of a mail; null for a subscription. */
  recipient: string | null;
  state: DeliveryState;
  /** The one that is running included. */
  attempts: number;
  fence: number;
  createdAt: string;
  dueAt: string | null;
  attemptedAt: string | null;
  status: number | null;
  response: string | null;
  error: string | null;
  ms: number | null;
}

export interface SubscriptionFilter {
  project?: string | undefined;
  /** Only what a caller can find; null or left out, everything. */
  visibility?: Visibility | null | undefined;
}

export interface DeliveryFilter extends SubscriptionFilter {
  subscriptionId?: string | undefined;
  state?: DeliveryState | undefined;
}

interface PageQuery<F> {
  filter: F;
  after: ListPosition | null;
  limit: number;
}

export interface SubscriptionReader {
  find(id: string): Promise<SubscriptionRecord | undefined>;
  /** Newest first. */
  page(query: PageQuery<SubscriptionFilter>): Promise<Page<SubscriptionRecord>>;
  /** Counts up to one more than `MAX_TOTAL`. */
  count(filter: SubscriptionFilter): Promise<number>;
  /** Number of deliveries of a subscription in a state, counted up to one more than `MAX_TOTAL`. */
  countDeliveries(id: string, state: DeliveryState): Promise<number>;
  findDelivery(id: string): Promise<(DeliveryRecord & { project: string }) | undefined>;
  /** Deliveries to subscriptions, newest first. Mails are none. */
  deliveries(query: PageQuery<DeliveryFilter>): Promise<Page<DeliveryRecord>>;
  countAll(filter: DeliveryFilter): Promise<number>;
}

/** The caller writes the audit entry. */
export interface SubscriptionWriter extends SubscriptionReader {
  insert(subscription: SubscriptionRecord): Promise<void>;
  update(id: string, change: Partial<SubscriptionRecord>): Promise<void>;
  /** Deletes a subscription with its deliveries. */
  remove(id: string): Promise<void>;
  /**
   * Makes an ended delivery due at once, with all its attempts again.
   * @returns false when it has not ended
   */
  redeliver(id: string, at: string): Promise<Applied>;
}

/** Records events in the transaction of what they report. */
export interface OutboxWriter {
  /** Adds a delivery for each active subscription that wants the event. @returns how many */
  record(event: OutgoingEvent): Promise<number>;
  /** Adds a delivery to one subscription, whatever it filters. @returns its id */
  recordFor(subscriptionId: string, event: OutgoingEvent): Promise<string>;
  /** Adds a mail to each recipient. */
  recordMail(event: OutgoingEvent, recipients: readonly string[]): Promise<void>;
}

/** How an attempt ends. */
interface DeliveryOutcome {
  state: DeliveryState;
  /** When the next attempt is due; null unless it is pending. */
  dueAt: string | null;
  at: string;
  status: number | null;
  response: string | null;
  error: string | null;
  ms: number | null;
  /** Whether the attempt does not count, because this process gave it up. */
  uncounted?: boolean | undefined;
}

/** The queue of mails, beside those of the subscriptions. */
export const MAIL_QUEUE = "mail";

export interface DeliveryQueueReader {
  /** The queues with a delivery that is due: ids of active subscriptions with their creators' usage subjects, and `MAIL_QUEUE`. */
  dueQueues(now: string): Promise<{ queue: string; subject: string }[]>;
  /** Number of deliveries by state: those that are pending, and those that were given up. */
  countByState(): Promise<{ pending: number; failed: number }>;
}

export interface DeliveryQueueWriter {
  /**
   * Claims the deliveries of a queue that have been due for longest.
   *
   * Guarantee: of concurrent callers one gets each delivery. A claim ends by itself at `until`, so that a delivery of a process
   * that died is attempted again.
   * @param until when the claim ends (ISO 8601)
   */
  claim(
    queue: string,
    claim: { now: string; until: string; by: string; limit: number },
  ): Promise<DeliveryRecord[]>;
  /**
   * Records how a claimed attempt ended.
   * @returns false when the claim has ended, or the delivery was deleted; the caller must then write nothing
   */
  recordAttempt(delivery: Pick<DeliveryRecord, "id" | "fence">, outcome: DeliveryOutcome): Promise<Applied>;
  /** Records on a subscription that an attempt succeeded. */
  succeeded(subscriptionId: string, at: string): Promise<void>;
  /** Records on a subscription that an attempt failed. @returns since when they fail; undefined if it was deleted */
  failed(subscriptionId: string, at: string): Promise<string | undefined>;
  /**
   * Pauses a subscription that is active, with an audit entry.
   *
   * Locks: the newest audit entry, until the transaction ends, so it comes last.
   */
  pauseSubscription(subscriptionId: string, at: string, reason: string): Promise<Applied>;
  /** Number of pending deliveries of a queue, counted up to `max`. */
  countPending(queue: string, max: number): Promise<number>;
}

/** Within which time a published workflow must succeed. */
export interface ExpectationRecord {
  workflowId: string;
  version: number;
  /** A duration such as `24h`. */
  every: string;
  /** Mail addresses that get the alert, in addition to its publisher. */
  mail: readonly string[];
  publishedBy: string;
  /** The publication, the last success, or the end of a pause (ISO 8601). */
  since: string;
  dueAt: string;
  succeededAt: string | null;
  /** When the alert was raised; null while nothing is overdue. */
  overdueSince: string | null;
}

export interface ExpectationReader {
  find(workflowId: string): Promise<ExpectationRecord | undefined>;
  /** Those whose time is over without an alert, the longest first. Not those whose schedule is paused. */
  due(now: string, limit: number): Promise<ExpectationRecord[]>;
  /** The overdue ones, the longest first. */
  overdue(
    filter: SubscriptionFilter & { workflowId?: string | undefined },
    limit: number,
  ): Promise<(ExpectationRecord & { project: string; name: string })[]>;
}

export interface ExpectationWriter extends ExpectationReader {
  /** Inserts or replaces what is expected of a workflow. */
  save(expectation: ExpectationRecord): Promise<void>;
  remove(workflowId: string): Promise<void>;
  /** Begins the time again, and ends an alert. @param succeeded whether a run has succeeded */
  restart(workflowId: string, at: string, succeeded: boolean): Promise<void>;
  /**
   * Raises the alert, if nothing has changed since.
   *
   * Guarantee: of all calls for one lapse, one returns true.
   * Concurrent callers: wait, then get false.
   */
  raiseAlert(
    expectation: Pick<ExpectationRecord, "workflowId" | "dueAt" | "version">,
    at: string,
  ): Promise<Applied>;
}

/** An API key that expires soon. */
export interface ExpiringKey {
  keyId: string;
  name: string;
  owner: string;
  createdAt: string;
  expiresAt: string;
  projects: readonly string[];
}

export interface KeyNoticeReader {
  /**
   * The keys that expire within so many days without a notice, the soonest first. Not those of applications, which renew them
   * themselves, and not those that were rotated. @param now in milliseconds since 1970
   */
  due(now: number, days: number, limit: number): Promise<ExpiringKey[]>;
}

export interface KeyNoticeWriter {
  /** Records that a notice is sent. @returns false when it was before; the caller must then send none */
  recordNotice(notice: { keyId: string; expiresAt: string; days: number }): Promise<Applied>;
}
