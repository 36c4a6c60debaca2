/** Users, found by id or e-mail address. */
import { domainToUnicode } from "node:url";
import { type Insertable, type Kysely, type SelectQueryBuilder, sql, type SqlBool } from "kysely";
import type { UserFilter, UserReader, UserRecord, UserWriter } from "../core/account-ports.ts";
import { AppError } from "../core/errors.ts";
import { foldText } from "../../schemas/fold-text.ts";
import { absenceReader, setAbsence } from "./absences.ts";
import { cappedCount, MAX_COUNTED } from "./capped-count.ts";
import { contains } from "./dialect.ts";
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

type UserQuery<O> = SelectQueryBuilder<Schema, "users", O>;

function filtered<O>(query: UserQuery<O>, { status, role }: Omit<UserFilter, "search">): UserQuery<O> {
  let out = query;
  if (status !== undefined) out = out.where("users.status", "=", status);
  if (role !== undefined) out = out.where("users.role", "=", role);
  return out;
}

/** `lower` of both databases knows only ASCII here. */
const searchText = sql<string>`lower(users.email)`;
/** Whether an address has another form for people. No database knows the Unicode form of a domain, or folds other letters. */
const hasOtherForm = sql<SqlBool>`(octet_length(users.email) <> length(users.email) or ${contains(searchText, "xn--")})`;

/** Maximum number of users that a page of a search reads at a time. */
const MAX_READ = 1_000;

/** The first users after an address, sorted by it. */
async function firstUsers(
  db: Kysely<Schema>,
  { search, ...filter }: UserFilter,
  after: string | null,
  limit: number,
): Promise<Row[]> {
  const wanted = search === undefined ? undefined : foldText(search);
  const found: Row[] = [];
  let position = after;
  // Of addresses with another form few may match.
  for (let size = limit; ; size = Math.min(2 * size, MAX_READ)) {
    let query = filtered(db.selectFrom("users").selectAll(), filter);
    if (wanted !== undefined)
      query = query.where((eb) => eb.or([contains(searchText, wanted), hasOtherForm]));
    // Addresses are unique, so the position needs no id.
    if (position !== null) query = query.where("users.email", ">", position);
    const rows = await query.orderBy("users.email").limit(size).execute();
    found.push(...rows.filter(({ email }) => wanted === undefined || isPartOf(wanted, email)));
    if (found.length >= limit || rows.length < size) return found.slice(0, limit);
    position = rows.at(-1)!.email;
  }
}

/** Counts the users that a search finds: most in the database, and those whose addresses have another form here. */
async function countFound(
  db: Kysely<Schema>,
  { search, ...filter }: UserFilter & { search: string },
): Promise<number> {
  const wanted = foldText(search);
  const plain = await cappedCount(
    db,
    filtered(db.selectFrom("users"), filter).where((eb) =>
      eb.and([contains(searchText, wanted), eb.not(hasOtherForm)]),
    ),
  );
  const others = await filtered(db.selectFrom("users").select("email"), filter)
    .where(hasOtherForm)
    .limit(MAX_COUNTED)
    .execute();
  return Math.min(plain + others.filter(({ email }) => isPartOf(wanted, email)).length, MAX_COUNTED);
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

    count: (filter) =>
      filter.search === undefined
        ? cappedCount(db, filtered(db.selectFrom("users"), filter))
        : countFound(db, { ...filter, search: filter.search }),
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
