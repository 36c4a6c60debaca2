/** When people are away, and who decides approvals in their place. */
import type { Kysely, Selectable } from "kysely";
import type { UserReader, UserWriter } from "../core/account-ports.ts";
import type { Absence } from "../core/approval-assignment.ts";
import type { Schema } from "./schema.ts";

/** Maximum number of people who are away at a time. */
const MAX_ABSENT = 1_000;

const toAbsence = (row: Selectable<Schema["absences"]>): Absence => ({
  email: row.email,
  startsAt: row.starts_at,
  endsAt: row.ends_at,
  substitute: row.substitute,
  setAt: row.set_at,
});

export const absenceReader = (
  db: Kysely<Schema>,
): Pick<UserReader, "absenceOf" | "absencesAt" | "absencesAfter"> => {
  const notOver = (now: string) =>
    db.selectFrom("absences").selectAll().where("ends_at", ">", now).orderBy("email");
  return {
    async absenceOf(email, now) {
      const row = await notOver(now).where("email", "=", email).executeTakeFirst();
      return row && toAbsence(row);
    },
    absencesAt: async (now) =>
      (await notOver(now).where("starts_at", "<=", now).limit(MAX_ABSENT).execute()).map(toAbsence),
    absencesAfter: async (now) => (await notOver(now).limit(MAX_ABSENT).execute()).map(toAbsence),
  };
};

export async function setAbsence(
  trx: Kysely<Schema>,
  email: string,
  absence: Parameters<UserWriter["setAbsence"]>[1],
): Promise<void> {
  await trx.deleteFrom("absences").where("email", "=", email).execute();
  if (absence === null) return;
  const { startsAt, endsAt, substitute, setAt } = absence;
  await trx
    .insertInto("absences")
    .values({ email, starts_at: startsAt, ends_at: endsAt, substitute, set_at: setAt })
    .execute();
}

/** Deletes absences that are over. @returns whether there may be more */
export async function purgeAbsences(trx: Kysely<Schema>, now: string, limit: number): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("absences")
    .where("email", "in", (eb) =>
      eb.selectFrom("absences").select("email").where("ends_at", "<=", now).limit(limit),
    )
    .executeTakeFirstOrThrow();
  return numDeletedRows >= BigInt(limit);
}
