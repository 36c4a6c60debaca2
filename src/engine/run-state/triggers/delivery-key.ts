/** What a repeated delivery has in common with the first one. */
import { createHash } from "node:crypto";
import type { Signature } from "../../../../schemas/signature.ts";
import type { Trigger } from "../../../../schemas/trigger.ts";
import { AppError } from "../../../core/errors.ts";
import { parseEventPath, readEventPath, type ReceivedEvent } from "../../../core/event-path.ts";

/** Where the body has the id of a delivery, for the schemes whose headers have none. */
const IDS_IN_BODIES: Readonly<Partial<Record<Signature["scheme"], string>>> = {
  stripe: "event.body.id",
  slack: "event.body.event_id",
};
/** Maximum length of an id that is stored, in characters. A longer one is stored as its digest, so that two are never one. */
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
  if (typeof id !== "string" || id === "") return null;
  return id.length > MAX_ID_CHARS ? digest(["long id", id]) : id;
}

/**
 * @returns the digest by which repetitions are recognized; null where there is nothing to recognize them by
 * @throws AppError invalid_input without the value that `deduplicate` reads
 */
export function deliveryKey(
  { deduplicate }: Pick<Trigger, "deduplicate">,
  event: ReceivedEvent,
  senderId: string | null,
): string | null {
  if (deduplicate === undefined) return senderId === null ? null : digest(["id", senderId]);
  const value = readEventPath(event, parseEventPath(deduplicate)!);
  if ((typeof value === "string" && value !== "") || typeof value === "number")
    return digest(["value", value]);
  throw new AppError(
    "invalid_input",
    `The delivery has no ${deduplicate}, by which repeated deliveries are recognized. Nothing was started.`,
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
}

const digest = (parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
