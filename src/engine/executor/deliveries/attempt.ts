/** Makes one attempt of a delivery: reads what it needs, builds the message, and sends it. A mail is counted in the limits of mails. */
import type { Clock } from "../../../core/clock.ts";
import { SECOND } from "../../../core/clock.ts";
import type { ResponseHeaders } from "../../../core/connections.ts";
import type { ConnectionViews } from "../../../core/connection-views.ts";
import type { SigningSecrets } from "../../../core/signing-secrets.ts";
import { eventUrlMask, maskValue } from "../../../core/event-url-mask.ts";
import type { Readers } from "../../../core/ports.ts";
import type { HeldMail } from "../../../core/mail-limits.ts";
import { StepError } from "../../../core/step-errors.ts";
import type { DeliveryRecord, SubscriptionRecord } from "../../../core/subscription-ports.ts";
import { toAppError } from "../../../core/errors.ts";
import { valuesGrant } from "../../../core/values-grant.ts";
import { chatMessage } from "./chat-messages.ts";
import { type EventNames, payloadOf, type RunValues } from "./payload.ts";
import { type EventSummary, summaryOf } from "./summary.ts";

/** Maximum duration of an attempt. */
const ATTEMPT_TIMEOUT_MS = 15 * SECOND;
/** Maximum part of a response that is read and stored, in bytes. */
const MAX_RESPONSE_BYTES = 1_000;
/** Maximum length of a stored error, in characters. */
const MAX_ERROR_CHARS = 500;

export interface AttemptResult {
  succeeded: boolean;
  status: number | null;
  response: string | null;
  error: string | null;
  /** The pause that the receiver asks for, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** Whether the receiver wants no more deliveries (410 Gone). */
  gone?: boolean | undefined;
}

/**
 * Sends a mail about an event to one person.
 * @returns why it must wait, if it must
 * @throws AppError, StepError
 */
export type SendEventMail = (
  mail: { to: string; summary: EventSummary } & Pick<DeliveryRecord, "id" | "event">,
  signal: AbortSignal,
) => Promise<HeldMail | undefined>;

/** An attempt that was not made, because the mail must wait. */
export interface HeldAttempt {
  held: HeldMail;
}

export interface AttemptOptions {
  read: Pick<Readers, "subscriptions" | "workflows" | "runs" | "users" | "projects" | "apiKeys">;
  views: ConnectionViews;
  secrets: SigningSecrets;
  clock: Clock;
  /** The URL of the web interface. */
  baseUrl: () => Promise<string>;
  sendMail: SendEventMail;
  /** How long a response asks to wait, in milliseconds; undefined if it does not. */
  retryAfterMs: (headers: ResponseHeaders, now: number) => number | undefined;
  timeoutMs?: number | undefined;
}

/** @returns a function that attempts a delivery; it returns undefined when the subscription was deleted */
export function deliveryAttempt(options: AttemptOptions) {
  const { read, views, secrets, clock } = options;
  return async (
    delivery: DeliveryRecord,
    stopping: AbortSignal,
  ): Promise<AttemptResult | HeldAttempt | undefined> => {
    const timeoutMs = options.timeoutMs ?? ATTEMPT_TIMEOUT_MS;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([stopping, timeout]);
    try {
      return await (delivery.recipient === null ? post(delivery, signal) : mail(delivery, signal));
    } catch (error) {
      if (stopping.aborted) throw error;
      const late = `There was no response within ${timeoutMs / SECOND} s.`;
      return failed(timeout.aborted ? late : messageOf(error));
    }
  };

  async function post(delivery: DeliveryRecord, signal: AbortSignal): Promise<AttemptResult | undefined> {
    const subscription = await read.subscriptions.find(delivery.subscriptionId!);
    if (subscription === undefined) return undefined;
    const names = await namesOf(delivery);
    const payload = payloadOf(delivery.event, names, await valuesFor(subscription, delivery));
    const isSigned = subscription.format === "standard_webhooks";
    const body = isSigned
      ? JSON.stringify(payload)
      : chatMessage(subscription.format as "slack", summaryOf(delivery.event, payload, names));
    const { http } = (await views.of(subscription.project)).connections;
    const answer = await http.send(
      {
        method: "POST",
        url: subscription.url ?? { secret: subscription.urlSecret ?? "" },
        headers: {
          "content-type": "application/json",
          "accept-encoding": "identity",
          ...(isSigned && secrets.headersFor(subscription, { id: delivery.id, now: clock.now(), body })),
        },
        body,
        maxBytes: MAX_RESPONSE_BYTES,
        onlyStart: true,
        acceptStatus: [301, 302, 303, 307, 308],
      },
      { owner: subscription.subject, signal },
    );
    const { status, headers } = answer;
    const response = typeof answer.body === "string" ? answer.body : "";
    if (status >= 200 && status < 300) return { succeeded: true, status, response, error: null };
    const moved = status >= 300 && status < 400 ? " Redirects are not followed: use the final URL." : "";
    return {
      succeeded: false,
      status,
      response,
      error: `The receiver answered ${status}.${moved}`,
      retryAfterMs: options.retryAfterMs(headers, clock.now()),
      gone: status === 410,
    };
  }

  async function mail(delivery: DeliveryRecord, signal: AbortSignal): Promise<AttemptResult | HeldAttempt> {
    const names = await namesOf(delivery);
    const summary = summaryOf(delivery.event, payloadOf(delivery.event, names, null), names);
    const { id, event, recipient } = delivery;
    const held = await options.sendMail({ to: recipient!, summary, id, event }, signal);
    return held !== undefined ? { held } : { succeeded: true, status: null, response: null, error: null };
  }

  async function namesOf({ event: { workflowId } }: DeliveryRecord): Promise<EventNames> {
    const workflow = workflowId === null ? undefined : await read.workflows.find(workflowId);
    return { base: (await options.baseUrl()).replace(/\/+$/, ""), workflowName: workflow?.name ?? null };
  }

  /** The values of the run, if the subscription asks for them and who set its URL may read them now. */
  async function valuesFor(
    subscription: SubscriptionRecord,
    { event: { type, runId, workflowId } }: DeliveryRecord,
  ): Promise<RunValues | "withheld" | null> {
    if (!subscription.includeValues || runId === null || (type !== "run.succeeded" && type !== "run.failed"))
      return null;
    const grant = await valuesGrant(read, subscription, clock.now(), { workflowId });
    if ("withheld" in grant) return "withheld";
    const run = await read.runs.find(runId);
    if (run === undefined) return null;
    const [inputs, output] = [await read.runs.inputs(runId), await read.runs.runOutput(runId)];
    const values = { inputs, output: output ?? null, error: run.error && { message: run.error.message } };
    return maskValue(values, eventUrlMask(read.runs, grant.access));
  }
}

const failed = (error: string): AttemptResult => ({
  succeeded: false,
  status: null,
  response: null,
  error: error.slice(0, MAX_ERROR_CHARS),
});

/** Messages of unexpected errors are for the log of the operator only. */
const messageOf = (error: unknown): string =>
  error instanceof StepError
    ? `${error.message} ${error.options.fix ?? ""}`.trim()
    : toAppError(error).message;
