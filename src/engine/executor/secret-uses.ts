/** The secrets that an attempt is about to send, and what its connection logs in with, for the audit log. */
import type { Connections } from "../../core/connections.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import type { SecretUse } from "../../core/usage-ports.ts";
import type { RunContext } from "../run-state/run-context.ts";
import type { Attempt } from "./attempt.ts";

/**
 * Finds the uses, if the operator asks for them.
 * @returns a function that records them with the start of the attempt: what can't be recorded is not sent
 */
export async function secretUseRecorder(
  { auditSecrets }: Pick<RunContext, "auditSecrets">,
  connections: Pick<Connections, "http" | "loginsOf">,
  { job, planned: { type }, input }: Attempt,
): Promise<(tx: Pick<EngineWriters, "secretUses">) => Promise<void>> {
  const found: readonly SecretUse[] = auditSecrets
    ? [
        ...((await type.secretUses?.(input as never, connections)) ?? []),
        ...(job.resource === null ? [] : connections.loginsOf(job.resource)),
        ...(type.type === "email" ? connections.loginsOf("mail") : []),
      ]
    : [];
  return async (tx) => {
    if (found.length > 0) await tx.secretUses.record(job, found);
  };
}
