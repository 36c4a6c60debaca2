/** What a repeated delivery has in common with the first one. */
import { createHash } from "node:crypto";
import type { Signature } from "../../../../schemas/signature.ts";
import type { Trigger } from "../../../../schemas/trigger.ts";
import { AppError } from "../../../core/errors.ts";
import { parseEventPath, readEventPath, type ReceivedEvent } from "../../../core/event-path.ts";
import { compileCel, type Compiled, ExpressionError } from "../../definition/expressions/index.ts";
import { deduplicationValue } from "../../definition/trigger-event.ts";

/** Where the body has the id of a delivery, for the schemes whose headers have none. */
const IDS_IN_BODIES: Readonly<Partial<Record<Signature["scheme"], string>>> = {
  stripe: "event.body.id",
  slack: "event.body.event_id",
};
/** The schemes that sign the body but neither a time nor an id: a caller who has one delivery could send it again with another id. */
const SIGNED_BODY_ONLY: ReadonlySet<Signature["scheme"]> = new Set(["github"]);
/** Maximum length of an id that is stored, in characters. */
const MAX_ID_CHARS = 200;

/** The id that the sender gave a delivery, in a header or in the body; null without one. */
export function senderIdOf(
  { signature }: Pick<Trigger, "signature">,
  event: ReceivedEvent,
  inHeaders: string | null,
): string | null {
  const path = signature === undefined ? undefined : IDS_IN_BODIES[signature.scheme];
  if (path === undefined) return inHeaders;
  const id = readEventPath(event, parseEventPath(path)!);
  return typeof id === "string" && id !== "" ? id.slice(0, MAX_ID_CHARS) : null;
}

/** Maximum work of `deduplicate`, in units: about half a millisecond, because the listener evaluates it. */
const MAX_COST = 50_000;

/** What is known of a delivery before its body is evaluated. */
interface Received {
  senderId: string | null;
  /** That of the bytes which were signed. */
  bodyDigest: string;
}

/** By what repetitions of a delivery are recognized. */
interface DeliveryKey {
  digest: string;
  /** Whether it is an id beside the body, so that all deliveries with it must have one body. */
  isBesideBody: boolean;
}

/**
 * Returns a function that returns by what repetitions of a delivery are recognized; null where there is nothing to
 * recognize them by. It throws AppError invalid_input without the value that `deduplicate` gives.
 */
export function deliveryKeys(): (
  trigger: Pick<Trigger, "deduplicate" | "signature">,
  event: ReceivedEvent,
  received: Received,
) => DeliveryKey | null {
  const expressions = new WeakMap<object, Compiled>();

  return (trigger, event, { senderId, bodyDigest }) => {
    const { deduplicate, signature } = trigger;
    if (deduplicate === undefined) {
      if (signature !== undefined && SIGNED_BODY_ONLY.has(signature.scheme))
        return { digest: digest(["body", bodyDigest]), isBesideBody: false };
      if (senderId === null) return null;
      // Of an event that Stripe or Slack sends again, other fields may have changed, such as `pending_webhooks`.
      const isBesideBody = signature === undefined || IDS_IN_BODIES[signature.scheme] === undefined;
      return { digest: digest(["id", senderId]), isBesideBody };
    }
    const path = parseEventPath(deduplicate);
    const value =
      path === undefined
        ? evaluate(trigger, deduplicate, event, senderId)
        : (readEventPath(event, path) ?? null);
    if ((typeof value === "string" && value !== "") || typeof value === "number")
      return {
        digest: digest(["value", value]),
        isBesideBody: path !== undefined && path.root !== "body",
      };
    throw noValue(deduplicate);
  };

  /** Here, and not in a thread: the delivery is not answered before it is known whether it is a repetition. */
  function evaluate(trigger: object, source: string, event: ReceivedEvent, senderId: string | null): unknown {
    const expression = expressions.get(trigger) ?? compileCel(source);
    expressions.set(trigger, expression);
    const scope = { inputs: {}, run: {}, steps: {}, event: deduplicationValue(event, senderId) };
    try {
      return expression.measure(scope, MAX_COST).value;
    } catch (error) {
      if (error instanceof ExpressionError) throw noValue(source, error.message);
      throw error;
    }
  }
}

const noValue = (deduplicate: string, cause?: string): AppError =>
  new AppError(
    "invalid_input",
    `The delivery has no ${deduplicate}, by which repeated deliveries are recognized` +
      `${cause === undefined ? "" : ` (${cause})`}. Nothing was started.`,
    {
      errors: [
        {
          path: deduplicate.replace(/^event\./, ""),
          code: "missing",
          message: "must be a text or a number",
          fix: "Send it, or choose another value in deduplicate of the trigger.",
        },
      ],
    },
  );

const digest = (parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
