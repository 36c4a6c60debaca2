/** The interfaces of the store for events that runs wait for, and of the engine for receiving them. */
import type { Issue } from "../../schemas/problem.ts";
import type { Signature } from "../../schemas/signature.ts";
import type { StepRef } from "./model.ts";
import type { Applied } from "./transactions.ts";
import type { SignedRequest } from "./webhook-signatures/index.ts";

/** The step of a run that waits for an event. Fan-outs can't, so there is no item. */
export type EventRef = Pick<StepRef, "runId" | "stepId">;

interface EventRecord {
  /** When it was received (ISO 8601). */
  receivedAt: string;
  /** The JSON that was sent; null for an empty body. */
  body: unknown;
}

export interface EventReader {
  find(ref: EventRef): Promise<EventRecord | undefined>;
}

export interface EventWriter extends EventReader {
  /**
   * Records the event of a step. Requires `lock` of its run.
   *
   * Guarantee: of all calls for one step, one returns true.
   * @returns false when the step has an event already; the caller must then refuse this one
   */
  receive(ref: EventRef, event: EventRecord): Promise<Applied>;
  /** Deletes the event of a step, which does not match. Requires `lock` of its run. */
  discard(ref: EventRef): Promise<void>;
}

/** What the URL of an event leads to: a step that has not received its event yet. */
export interface EventTarget extends EventRef {
  /** The signature that its sender must make; left out for none. */
  signature?: Signature | undefined;
  /** That of its run. */
  project: string;
  /** That of its run: null in a run of a single step. */
  workflowId: string | null;
}

/** Receives events. The token in the URL is the only permission that a sender needs. */
export interface EventsApi {
  /** The URL to which the event of a step is sent: the same for the whole run. */
  url(ref: EventRef): Promise<string>;
  /**
   * Finds the step that a token belongs to.
   * @throws AppError event_not_found for a token that this instance did not make, or whose run was purged; event_received
   *   when the step has its event or no longer waits for one
   */
  find(token: string): Promise<EventTarget>;
  /**
   * Checks the signature of a request.
   * @throws AppError signature_invalid, secret_unavailable
   */
  checkSignature(target: EventTarget, signature: Signature, request: SignedRequest): Promise<void>;
  /**
   * Records the event of a step, which ends its wait; an event that comes before the step begins is kept for it.
   * @param source.issues what was found in the text of the body, to be reported together with those of the schema
   * @param source.isForm whether the body is the fields of a form (event-path.ts)
   * @returns when it was received (ISO 8601)
   * @throws AppError invalid_input with all issues when the body does not match the schema, so that the token stays
   *   valid; event_received
   */
  receive(
    target: EventTarget,
    body: unknown,
    source?: { issues?: readonly Issue[]; isForm?: boolean },
  ): Promise<string>;
}
