/** A step that must not send its mail now waits for it: its job becomes due when the mail may be sent. */
import type { EngineWriters } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";
import type { Attempt } from "./attempt.ts";
import type { UsageLimits } from "./usage-limits.ts";

/**
 * Counts the mails of a step, in the transaction that records its start.
 * @returns the error to throw after the commit; undefined where the step may start
 */
export async function countStepMails(
  tx: EngineWriters,
  usageLimits: Pick<UsageLimits, "countMails">,
  { run, planned, input }: Attempt,
): Promise<StepError | undefined> {
  const addresses = planned.type.mailsTo?.(input!) ?? [];
  const held = addresses.length === 0 ? undefined : await usageLimits.countMails(tx, run, addresses);
  if (held === undefined) return undefined;
  const { message, until } = held;
  return until === null
    ? new StepError("limit_reached", message, {
        fix: "Send it to fewer addresses, or ask the operator for a higher limit.",
      })
    : new StepError("limit_reached", `${message} The step waits until then.`, { waitUntil: until });
}

/** When the job of a step that was held is due, in milliseconds since 1970; undefined for one that failed. */
export const heldUntil = (thrown: unknown): number | undefined =>
  thrown instanceof StepError ? thrown.options.waitUntil : undefined;
