/** Users, found by id or e-mail address. */
import { domainToUnicode } from "node:url";
import type { Insertable, Kysely, SelectQueryBuilder } from "kysely";
import type { UserFilter, UserReader, UserRecord, UserWriter } from "../core/account-ports.ts";
import { AppError } from "../core/errors.ts";
import { foldText } from "../../schemas/fold-text.ts";
import { absenceReader, setAbsence } from "./absences.ts";
import { cappedCount, MAX_COUNTED } from "./capped-count.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";

type Row = Omit<Schema["users"], "first">;

const toUser = (row: Row): UserRecord => ({
  id: row.id,
  email: row.email,
  role: row.role,
  status: row.status,
  passwordHash: row.password_hash,
  roleSource: row.role_by,
  verifiedAt: row.verified_at,
  createdAt: row.created_at,
  createdBy: row.created_by,
  lastLoginAt: row.last_login_at,
});

const toRow = (user: UserRecord, first: 1 | null): Insertable<Schema["users"]> => ({
  id: user.id,
  email: user.email,
  first,
  role: user.role,
  status: user.status,
  password_hash: user.passwordHash,
  role_by: user.roleSource,
  verified_at: user.verifiedAt,
  created_at: user.createdAt,
  created_by: user.createdBy,
  last_login_at: user.lastLoginAt,
});

const byId = prepared((db, id: string) => db.selectFrom("users").selectAll().where("id", "=", id));
const byEmail = prepared((db, email: string) =>
  db.selectFrom("users").selectAll().where("email", "=", email),
);

function filtered<O>(
  query: SelectQueryBuilder<Schema, "users", O>,
  { status, role }: Omit<UserFilter, "search">,
): SelectQueryBuilder<Schema, "users", O> {
  let out = query;
  if (status !== undefined) out = out.where("users.status", "=", status);
  if (role !== undefined) out = out.where("users.role", "=", role);
  return out;
}

/** Number of users that a search reads at a time. */
const SEARCHED_AT_A_TIME = 1_000;

/** The first users after an address, sorted by it. A search compares here: no database knows the Unicode form of a domain. */
async function firstUsers(
  db: Kysely<Schema>,
  { search, ...filter }: UserFilter,
  after: string | null,
  limit: number,
): Promise<Row[]> {
  const wanted = search === undefined ? undefined : foldText(search);
  const size = wanted === undefined ? limit : SEARCHED_AT_A_TIME;
  const found: Row[] = [];
  let position = after;
  for (;;) {
    let query = filtered(db.selectFrom("users").selectAll(), filter);
    // Addresses are unique, so the position needs no id.
    if (position !== null) query = query.where("users.email", ">", position);
    const rows = await query.orderBy("users.email").limit(size).execute();
    found.push(...rows.filter(({ email }) => wanted === undefined || isPartOf(wanted, email)));
    if (found.length >= limit || rows.length < size) return found.slice(0, limit);
    position = rows.at(-1)!.email;
  }
}

/** @param wanted folded @param email in its canonical form */
function isPartOf(wanted: string, email: string): boolean {
  const at = email.lastIndexOf("@") + 1;
  const forPeople = `${email.slice(0, at)}${domainToUnicode(email.slice(at))}`;
  return foldText(email).includes(wanted) || foldText(forPeople).includes(wanted);
}

export function userReader(db: Kysely<Schema>): UserReader {
  return {
    ...absenceReader(db),

    async find(id) {
      const [row] = await byId(db, id);
      return row && toUser(row);
    },

    async findByEmail(email) {
      const [row] = await byEmail(db, email);
      return row && toUser(row);
    },

    exists: async () => (await db.selectFrom("users").select("id").limit(1).executeTakeFirst()) !== undefined,

    existsFromProvider: async () =>
      (await db.selectFrom("identities").select("user_id").limit(1).executeTakeFirst()) !== undefined,

    async page({ filter, after, limit }) {
      // One row more than the limit shows whether there is a next page.
      const rows = await firstUsers(db, filter, after === null ? null : after[0], limit + 1);
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        items: page.map(toUser),
        next: rows.length > page.length && last ? [last.email, last.id] : null,
      };
    },

    async count(filter) {
      return filter.search === undefined
        ? cappedCount(db, filtered(db.selectFrom("users"), filter))
        : (await firstUsers(db, filter, null, MAX_COUNTED)).length;
    },
  };
}

export function userWriter(trx: Kysely<Schema>): UserWriter {
  const reader = userReader(trx);
  /** @returns false on a conflict of a unique column, which does not abort the transaction */
  const insertUser = async (user: UserRecord, first: 1 | null): Promise<boolean> => {
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto("users")
      .values(toRow(user, first))
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  };

  return {
    ...reader,

    async insert(user) {
      if (await insertUser(user, null)) return;
      throw new AppError(
        "email_taken",
        `A user with the address ${user.email} already exists. Find them with list_users; renew their invitation, or change their role.`,
      );
    },

    async insertFirst(user) {
      if (await insertUser(user, 1)) return;
      throw new AppError(
        "setup_done",
        "The first admin already exists. Sign in, or ask an admin for an invitation.",
      );
    },

    async update(id, { role, roleSource, status, passwordHash, verifiedAt, lastLoginAt }) {
      const set = {
        role,
        role_by: roleSource,
        status,
        password_hash: passwordHash,
        verified_at: verifiedAt,
        last_login_at: lastLoginAt,
      };
      if (Object.values(set).every((value) => value === undefined)) return;
      await trx.updateTable("users").set(set).where("id", "=", id).execute();
    },

    setAbsence: (email, absence) => setAbsence(trx, email, absence),

    countActiveAdmins: () => reader.count({ role: "admin", status: "active" }),
  };
}
