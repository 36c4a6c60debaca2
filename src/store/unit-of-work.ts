/** Writes one accepted change: its effect, its idempotency record and its audit entry, in one transaction. */
import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import { canonicalJson } from "../core/canonical-json.ts";
import { type Clock, DAY, iso } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import type { WriteIntent, UnitOfWork, Writers } from "../core/ports.ts";
import { detailsOfChange } from "../core/workflow-change-details.ts";
import { apiKeyReader, apiKeyWriter } from "./api-keys.ts";
import { appendAuditEntry, auditActor } from "./audit-entries.ts";
import type { Locking, Store } from "./store.ts";
import { skippingLocked, writesConcurrently } from "./dialect.ts";
import { engineWriters, withCommitHooks } from "./engine-transaction.ts";
import { identityReader, identityWriter } from "./identities.ts";
import { DatabaseLockNeeded, lockGuard, noGuard } from "./lock-guard.ts";
import { linkReader, linkWriter } from "./links.ts";
import type { Schema } from "./schema.ts";
import { decodeDefinition, encodeDefinition, releaseValues } from "./run-values.ts";
import { projectReader, projectWriter } from "./projects.ts";
import { reviewReader, reviewWriter } from "./reviews.ts";
import { sessionReader, sessionWriter } from "./sessions.ts";
import { byteCounter } from "./stored-bytes.ts";
import { subscriptionReader, subscriptionWriter } from "./subscriptions.ts";
import { userReader, userWriter } from "./users.ts";
import { workflowChangeReader } from "./workflow-changes.ts";
import { workflowReader } from "./workflows.ts";
import { workflowWriter } from "./workflow-writer.ts";

/** How long a repeated request gets the first response, in milliseconds. */
const REPLAY_MS = DAY;
/** Maximum number of expired records that one write deletes, so that no request pays for all of them. */
const PURGE_LIMIT = 50;
/** How the column of a result with a reference begins, as the JSON of no result does. */
const WITH_REFERENCE = " ";
/** More than the references of one record: each use of its key that has expired may have left one. */
const MAX_REFERENCES = 1_000;

export function unitOfWork(store: Pick<Store, "transaction">, clock: Clock): UnitOfWork {
  /** The operations that write something without row locks. They are found at their first write. */
  const needDatabase = new Set<string>();
  return async (intent, effect) => {
    if (!needDatabase.has(intent.operation)) {
      try {
        return await runUnit(store, clock, { intent, effect, locking: "rows" });
      } catch (error) {
        if (!(error instanceof DatabaseLockNeeded)) throw error;
        needDatabase.add(intent.operation);
      }
    }
    return runUnit(store, clock, { intent, effect, locking: "database" });
  };
}

interface Unit<T> {
  intent: WriteIntent;
  effect: (tx: Writers) => Promise<T>;
  locking: Locking;
}

/** @throws DatabaseLockNeeded when the effect writes something without row locks, and `locking` is "rows" */
function runUnit<T>(
  store: Pick<Store, "transaction">,
  clock: Clock,
  { intent, effect, locking }: Unit<T>,
): Promise<T> {
  return withCommitHooks((begin) =>
    store.transaction(async (trx, left) => {
      const { guard, run } = locking === "rows" && writesConcurrently(trx) ? lockGuard() : noGuard;
      // The writers add the audit entry with the change, so a transaction that changes nothing leaves none.
      const recordAudit: Writers["recordAudit"] = (target, outcome, more) =>
        appendAuditEntry(trx, {
          ...auditActor(intent.actor),
          ...more,
          at: iso(clock.now()),
          operation: outcome === undefined ? intent.operation : `${intent.operation}.${outcome}`,
          target,
          requestId: intent.requestId,
        });
      const bytes = byteCounter(trx);
      const writers = {
        ...engineWriters(trx, clock, bytes, left, { requestId: intent.requestId, onCommit: begin() }),
        workflows: guard(
          workflowWriter(trx, clock, (id, change) =>
            recordAudit(id, undefined, change && { details: detailsOfChange(change) }),
          ),
          () => workflowReader(trx),
        ),
        workflowChanges: workflowChangeReader(trx),
        apiKeys: guard(apiKeyWriter(trx), () => apiKeyReader(trx)),
        users: guard(userWriter(trx), () => userReader(trx)),
        sessions: guard(sessionWriter(trx, clock), () => sessionReader(trx)),
        identities: guard(identityWriter(trx), () => identityReader(trx)),
        links: guard(linkWriter(trx, clock), () => linkReader(trx)),
        projects: guard(projectWriter(trx), () => projectReader(trx)),
        reviews: guard(reviewWriter(trx), () => reviewReader(trx)),
        subscriptions: guard(subscriptionWriter(trx), () => subscriptionReader(trx)),
        recordAudit,
      };
      const runEffect = async () => {
        const result = await run(() => effect(writers));
        await bytes.flush();
        return result;
      };
      return intent.idempotency === undefined
        ? runEffect()
        : runOnce(trx, { ...intent, idempotency: intent.idempotency }, clock, runEffect);
    }, locking),
  );
}

/** The key of an idempotency record. */
interface IdempotencySlot {
  principal: string;
  operation: string;
  key: string;
}

/**
 * Runs an effect once for each idempotency key. The record is inserted before the effect: on every database a second
 * transaction with the same key then waits at its own insert until the first one has ended.
 */
async function runOnce<T>(
  trx: Kysely<Schema>,
  { actor, operation, idempotency }: WriteIntent & { idempotency: NonNullable<WriteIntent["idempotency"]> },
  clock: Clock,
  run: () => Promise<T>,
): Promise<T> {
  const slot: IdempotencySlot = {
    principal: actor.principal.lineage,
    operation,
    key: idempotency.key,
  };
  const hash = createHash("sha256").update(canonicalJson(idempotency.input)).digest("base64url");
  const now = clock.now();
  await purgeIdempotencyKeys(trx, now, PURGE_LIMIT);
  if (!(await insertRecord(trx, slot, hash, now))) return recordedResult<T>(trx, slot, hash);
  const result = await run();
  await trx
    .updateTable("idempotency_keys")
    .set({ result: await encodeResult(trx, slot, result) })
    .where("principal", "=", slot.principal)
    .where("operation", "=", slot.operation)
    .where("key", "=", slot.key)
    .execute();
  return result;
}

/** Inserts the record of a request, or replaces an expired one. @returns false when there is a valid one already */
async function insertRecord(
  trx: Kysely<Schema>,
  slot: IdempotencySlot,
  hash: string,
  now: number,
): Promise<boolean> {
  const record = { request_hash: hash, result: "", created_at: iso(now) };
  const inserted = await trx
    .insertInto("idempotency_keys")
    .values({ ...slot, ...record })
    .onConflict((conflict) =>
      conflict
        .columns(["principal", "operation", "key"])
        .doUpdateSet(record)
        .where("idempotency_keys.created_at", "<=", iso(now - REPLAY_MS)),
    )
    .returning("key")
    .executeTakeFirst();
  return inserted !== undefined;
}

/**
 * The result of the first request with this key.
 * @throws AppError idempotency_key_reused when that one had a different input
 */
async function recordedResult<T>(trx: Kysely<Schema>, slot: IdempotencySlot, hash: string): Promise<T> {
  const record = await trx
    .selectFrom("idempotency_keys")
    .select(["request_hash", "result"])
    .where("principal", "=", slot.principal)
    .where("operation", "=", slot.operation)
    .where("key", "=", slot.key)
    .executeTakeFirstOrThrow();
  if (record.request_hash === hash) return (await decodeResult(trx, record.result)) as T;
  throw new AppError(
    "idempotency_key_reused",
    "This idempotency key was used with a different input within the last 24 hours. Nothing was changed. " +
      "Use a new key for a new request, or send the first input again.",
  );
}

/** Who refers to the stored values of a record. It can't be the id of a run or of a version. */
const holderOf = ({ principal, operation, key }: IdempotencySlot): string =>
  `idempotency ${JSON.stringify([principal, operation, key])}`;

/**
 * The text of the column for a result. A large definition in it is a reference to the value that the version has as well:
 * a small request, such as to publish, must not store a copy of it each time.
 */
async function encodeResult(trx: Kysely<Schema>, slot: IdempotencySlot, result: unknown): Promise<string> {
  const { definition } = (result ?? {}) as { definition?: unknown };
  const json = definition === undefined || definition === null ? null : JSON.stringify(definition);
  const stored = await encodeDefinition(trx, holderOf(slot), json);
  return stored === json
    ? JSON.stringify(result)
    : `${WITH_REFERENCE}${JSON.stringify([{ ...(result as object), definition: null }, stored])}`;
}

async function decodeResult(trx: Kysely<Schema>, column: string): Promise<unknown> {
  if (!column.startsWith(WITH_REFERENCE)) return JSON.parse(column);
  const [rest, stored] = JSON.parse(column) as [object, string];
  return { ...rest, definition: await decodeDefinition(trx, stored) };
}

/** Deletes up to `limit` expired records. @returns whether there may be more */
export async function purgeIdempotencyKeys(
  trx: Kysely<Schema>,
  now: number,
  limit: number,
): Promise<boolean> {
  const deleted = await trx
    .deleteFrom("idempotency_keys")
    .where((eb) =>
      eb(
        eb.refTuple("principal", "operation", "key"),
        "in",
        skippingLocked(
          trx,
          eb
            .selectFrom("idempotency_keys")
            .select(["principal", "operation", "key"])
            .where("created_at", "<=", iso(now - REPLAY_MS))
            .orderBy("created_at")
            .limit(limit),
        ).$asTuple("principal", "operation", "key"),
      ),
    )
    .returning((eb) => [
      "principal" as const,
      "operation" as const,
      "key" as const,
      eb("result", "like", `${WITH_REFERENCE}%`).as("has_reference"),
    ])
    .execute();
  for (const { has_reference: hasReference, ...slot } of deleted)
    if (hasReference) await releaseValues(trx, holderOf(slot), MAX_REFERENCES);
  return deleted.length >= limit;
}
