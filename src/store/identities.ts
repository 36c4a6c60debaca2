/** The users' identities at identity providers. */
import type { Kysely } from "kysely";
import type { IdentityReader, IdentityWriter } from "../core/account-ports.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";

const byKey = prepared((db, issuer: string, subject: string) =>
  db.selectFrom("identities").select("user_id").where("issuer", "=", issuer).where("subject", "=", subject),
);

export function identityReader(db: Kysely<Schema>): IdentityReader {
  return {
    async find({ issuer, subject }) {
      const [row] = await byKey(db, issuer, subject);
      return row?.user_id;
    },
  };
}

export function identityWriter(trx: Kysely<Schema>): IdentityWriter {
  return {
    ...identityReader(trx),

    async insert({ issuer, subject, userId, createdAt }) {
      await trx
        .insertInto("identities")
        .values({ issuer, subject, user_id: userId, created_at: createdAt })
        .execute();
    },

    async has(userId, issuer) {
      const row = await trx
        .selectFrom("identities")
        .select("subject")
        .where("user_id", "=", userId)
        .where("issuer", "=", issuer)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}
