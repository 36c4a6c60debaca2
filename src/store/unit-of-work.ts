/** One accepted change: its effect, its idempotency record and its audit entry, committed together or not at all. */
import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import { type Clock, DAY, iso } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import type { Actor, Writers } from "../core/ports.ts";
import type { Store } from "./database.ts";
import type { Schema } from "./schema.ts";
import { workflowWriter } from "./workflows.ts";

/** For how long a repeated request gets the first answer. */
const REPLAY_MS = DAY;
/** At most so many old records are cleared by one write, so that no request pays for all of them. */
const CLEARED_AT_ONCE = 50;

export interface Intent {
  operation: string;
  actor: Actor;
  requestId: string;
  /** What is changed, where the input names it. */
  target: string | null;
  /** The client's idempotency key and the input it came with. */
  claim?: { key: string; input: unknown } | undefined;
}

export type UnitOfWork = <T>(intent: Intent, effect: (tx: Writers) => Promise<T>) => Promise<T>;

/**
 * The only way in which operations write.
 * @throws AppError idempotency_key_reused when the key came with another input before; busy, storage_unavailable
 */
export function unitOfWork(store: Pick<Store, "transaction">, clock: Clock): UnitOfWork {
  return (intent, effect) =>
    store.transaction(async (trx) => {
      const run = async () => {
        const result = await effect({ workflows: workflowWriter(trx, clock) });
        await audit(trx, intent, clock);
        return result;
      };
      return intent.claim === undefined ? run() : once(trx, { ...intent, claim: intent.claim }, clock, run);
    });
}

async function once<T>(
  trx: Kysely<Schema>,
  { actor, operation, claim }: Intent & { claim: NonNullable<Intent["claim"]> },
  clock: Clock,
  run: () => Promise<T>,
): Promise<T> {
  const slot = { principal: actor.principal.lineage, operation, key: claim.key };
  const hash = createHash("sha256").update(JSON.stringify(claim.input)).digest("base64url");
  const now = clock.now();
  await forgetOld(trx, iso(now - REPLAY_MS));

  const known = await trx
    .selectFrom("idempotency_keys")
    .select(["request_hash", "result", "created_at"])
    .where("principal", "=", slot.principal)
    .where("operation", "=", slot.operation)
    .where("key", "=", slot.key)
    .executeTakeFirst();
  if (known !== undefined && known.created_at > iso(now - REPLAY_MS)) {
    if (known.request_hash === hash) return JSON.parse(known.result) as T;
    throw new AppError(
      "idempotency_key_reused",
      "This idempotency key came with another input within the last 24 hours. Nothing was done. " +
        "Use a new key for a new request, or send the first input again.",
    );
  }
  const result = await run();
  const record = { request_hash: hash, result: JSON.stringify(result), created_at: iso(now) };
  await trx
    .insertInto("idempotency_keys")
    .values({ ...slot, ...record })
    .onConflict((conflict) => conflict.columns(["principal", "operation", "key"]).doUpdateSet(record))
    .execute();
  return result;
}

async function forgetOld(trx: Kysely<Schema>, before: string): Promise<void> {
  const old = await trx
    .selectFrom("idempotency_keys")
    .select(["principal", "operation", "key"])
    .where("created_at", "<=", before)
    .orderBy("created_at")
    .limit(CLEARED_AT_ONCE)
    .execute();
  for (const { principal, operation, key } of old) {
    await trx
      .deleteFrom("idempotency_keys")
      .where("principal", "=", principal)
      .where("operation", "=", operation)
      .where("key", "=", key)
      .execute();
  }
}

async function audit(trx: Kysely<Schema>, intent: Intent, clock: Clock): Promise<void> {
  const { principal, client } = intent.actor;
  await trx
    .insertInto("audit_log")
    .values({
      at: iso(clock.now()),
      operation: intent.operation,
      target: intent.target,
      owner: principal.owner,
      key_name: principal.keyName,
      surface: client.surface,
      client: client.name,
      request_id: intent.requestId,
    })
    .execute();
}
