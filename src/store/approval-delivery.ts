/** Reads and writes the links that decide approvals, and the messages about them. */
import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import type {
  ApprovalLinkReader,
  ApprovalLinkWriter,
  ApprovalMessageReader,
  ApprovalMessageWriter,
} from "../core/approval-delivery-ports.ts";
import type { Schema } from "./schema.ts";

/** Maximum number of browsers that are recorded for a link. */
const MAX_VISITS = 20;

export function approvalLinkReader(db: Kysely<Schema>): ApprovalLinkReader {
  return {
    async find(digest) {
      const row = await db
        .selectFrom("approval_links")
        .selectAll()
        .where("digest", "=", digest)
        .executeTakeFirst();
      return (
        row && {
          approvalId: row.approval_id,
          recipient: row.recipient,
          planDigest: row.plan_digest,
          createdAt: row.created_at,
          usedAt: row.used_at,
        }
      );
    },

    visits: async (digest) =>
      db
        .selectFrom("approval_link_visits")
        .select(["address", "client", "at"])
        .where("digest", "=", digest)
        .orderBy("at")
        .orderBy("visitor")
        .execute(),
  };
}

export function approvalLinkWriter(trx: Kysely<Schema>): ApprovalLinkWriter {
  return {
    ...approvalLinkReader(trx),

    async insert({ digest, approvalId, recipient, planDigest, createdAt }) {
      await trx
        .insertInto("approval_links")
        .values({
          digest,
          approval_id: approvalId,
          recipient,
          plan_digest: planDigest,
          created_at: createdAt,
          used_at: null,
        })
        .execute();
    },

    async consume(digest, at) {
      const { numUpdatedRows } = await trx
        .updateTable("approval_links")
        .set({ used_at: at })
        .where("digest", "=", digest)
        .where("used_at", "is", null)
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },

    async addVisit(digest, { address, client, at }) {
      const { count } = await trx
        .selectFrom("approval_link_visits")
        .select((eb) => eb.fn.countAll<number | string>().as("count"))
        .where("digest", "=", digest)
        .executeTakeFirstOrThrow();
      if (Number(count) >= MAX_VISITS) return false;
      const visitor = createHash("sha256").update(`${address}\0${client}`).digest("base64url");
      const inserted = await trx
        .insertInto("approval_link_visits")
        .values({ digest, visitor, address, client, at })
        .onConflict((conflict) => conflict.columns(["digest", "visitor"]).doNothing())
        .returning("visitor")
        .executeTakeFirst();
      return inserted !== undefined;
    },
  };
}

export function approvalMessageReader(db: Kysely<Schema>): ApprovalMessageReader {
  return {
    async of(approvalId) {
      const rows = await db
        .selectFrom("approval_messages")
        .selectAll()
        .where("approval_id", "=", approvalId)
        .execute();
      return rows.map(({ approval_id: id, channel, recipient, at, status, reference }) => ({
        approvalId: id,
        channel,
        recipient,
        at,
        status,
        reference,
      }));
    },
  };
}

export function approvalMessageWriter(trx: Kysely<Schema>): ApprovalMessageWriter {
  return {
    ...approvalMessageReader(trx),

    async put({ approvalId, channel, recipient, at, status, reference }) {
      await trx
        .insertInto("approval_messages")
        .values({ approval_id: approvalId, channel, recipient, at, status, reference })
        .onConflict((conflict) =>
          conflict.columns(["approval_id", "channel", "recipient"]).doUpdateSet({ at, status, reference }),
        )
        .execute();
    },
  };
}

/** Deletes what belongs to the approvals of a run. */
export async function deleteApprovalDelivery(trx: Kysely<Schema>, runId: string): Promise<void> {
  const approvals = trx.selectFrom("approvals").select("id").where("run_id", "=", runId);
  const links = trx.selectFrom("approval_links").select("digest").where("approval_id", "in", approvals);
  await trx.deleteFrom("approval_link_visits").where("digest", "in", links).execute();
  await trx.deleteFrom("approval_links").where("approval_id", "in", approvals).execute();
  await trx.deleteFrom("approval_messages").where("approval_id", "in", approvals).execute();
}
