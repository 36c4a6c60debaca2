/** Tells of API keys that expire, some days before: subscriptions of their projects, and their owners by mail. Each notice once. */
import { OPERATOR } from "../../../schemas/actor.ts";
import { DEFAULT_PROJECT } from "../../../schemas/project.ts";
import { isInstanceAdmin } from "../../core/access.ts";
import { type Clock, DAY, isAgreed, iso } from "../../core/clock.ts";
import { accessOfOwner } from "../../core/owner-access.ts";
import type { Readers } from "../../core/ports.ts";
import type { EngineTransaction, EngineWriters } from "../../core/run-ports.ts";
import type { ExpiringKey, OutgoingEvent } from "../../core/subscription-ports.ts";

/** How long before the end there is a notice, in days, the last one first. */
const NOTICE_DAYS = [1, 7] as const;
/** Keys processed per poll and notice. */
const BATCH_SIZE = 50;

interface Options {
  read: Pick<Readers, "keyNotices" | "users" | "projects">;
  transaction: EngineTransaction;
  clock: Clock;
  mailEnabled: boolean;
}

/** @returns a function that sends the notices that are due, and returns how many */
export function keyNotices({ read, transaction, clock, mailEnabled }: Options): () => Promise<number> {
  return async () => {
    // With a wrong clock the other executors send them.
    if (!isAgreed(clock)) return 0;
    const now = clock.now();
    const noted = new Set<string>();
    let count = 0;
    for (const days of NOTICE_DAYS)
      for (const key of await read.keyNotices.due(now, days, BATCH_SIZE)) {
        // Who creates a key for a few days knows when it ends. After a pause of all executors, the later notice is enough.
        const isNeeded =
          Date.parse(key.expiresAt) - Date.parse(key.createdAt) > days * DAY && !noted.has(key.keyId);
        noted.add(key.keyId);
        if ((await transaction((tx) => notify(tx, key, { days, isNeeded }))) && isNeeded) count += 1;
      }
    return count;
  };

  async function notify(
    tx: EngineWriters,
    { keyId, name, owner, expiresAt, projects }: ExpiringKey,
    { days, isNeeded }: { days: number; isNeeded: boolean },
  ): Promise<boolean> {
    if (!(await tx.keyNotices.recordNotice({ keyId, expiresAt, days }))) return false;
    if (!isNeeded) return true;
    const event: Omit<OutgoingEvent, "project"> = {
      type: "key.expiring",
      workflowId: null,
      runId: null,
      at: iso(clock.now()),
      data: { key_id: keyId, key_name: name, owner, expires_at: expiresAt },
      mayKnow: (person) => maySee(person, owner),
    };
    for (const project of projects) await tx.outbox.record({ ...event, project });
    const user = owner === OPERATOR || !mailEnabled ? undefined : await read.users.findByEmail(owner);
    if (user?.status === "active")
      await tx.outbox.recordMail({ ...event, project: projects[0] ?? DEFAULT_PROJECT }, [owner]);
    return true;
  }

  /** Whether a person may see a key, as in the list of keys: its owner, and admins of the instance. */
  async function maySee(person: string, owner: string): Promise<boolean> {
    if (person === owner) return true;
    const access = await accessOfOwner(read, person);
    return access !== undefined && isInstanceAdmin(access);
  }
}
