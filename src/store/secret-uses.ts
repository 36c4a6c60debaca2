/** Records in the audit log which secrets the attempts of steps have used. */
import type { Kysely } from "kysely";
import { type Clock, iso } from "../core/clock.ts";
import type { SecretUseWriter } from "../core/usage-ports.ts";
import { appendAuditEntry } from "./audit-entries.ts";
import type { Schema } from "./schema.ts";

export function secretUseWriter(trx: Kysely<Schema>, clock: Clock): SecretUseWriter {
  return {
    async record({ runId, stepId, item, attempt }, uses) {
      if (uses.length === 0) return;
      const run = await trx
        .selectFrom("runs")
        .select(["owner", "key_name", "lineage", "surface", "client", "project"])
        .where("id", "=", runId)
        .executeTakeFirstOrThrow();
      for (const { secret, host, connection } of uses)
        await appendAuditEntry(trx, {
          at: iso(clock.now()),
          operation: "use_secret",
          // Not the run, so that all uses of a secret can be listed.
          target: `secret:${secret}`,
          project: run.project,
          owner: run.owner,
          keyName: run.key_name,
          lineage: run.lineage,
          surface: run.surface,
          client: run.client,
          requestId: null,
          details: {
            host,
            ...(connection !== undefined && { connection }),
            run_id: runId,
            step_id: stepId,
            ...(item !== null && { item }),
            attempt,
          },
        });
    },
  };
}
