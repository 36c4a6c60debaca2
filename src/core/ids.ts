import { randomBytes } from "node:crypto";

const ID_BYTES = 9;
/** Number of ids whose random bytes are requested at once. */
const POOL_IDS = 128;
let pool = Buffer.alloc(0);

export const newRequestId = (): string => newId("req");

export const newRunId = (): string => newId("run");

/** What the ids of users begin with. */
export const USER_ID_PREFIX = "usr_";

export const newUserId = (): string => newId("usr");

/** The id of a change request. */
export const newReviewId = (): string => newId("rev");

/** The id of a trigger. It is a part of the URL, but not the secret one. */
export const newTriggerId = (): string => newId("trg");

/** The id of a delivery to a trigger. */
export const newTriggerDeliveryId = (): string => newId("trd");
export const newBackfillId = (): string => newId("bf");
export const newBacktestId = (): string => newId("bt");
export const newBulkActionId = (): string => newId("blk");
export const newSubscriptionId = (): string => newId("sub");

/** The id of an event that subscriptions get. */
export const newEventId = (): string => newId("evt");

export const newDeliveryId = (): string => newId("dlv");

/** The id of a session, which is not a secret, unlike its token. */
export const newSessionId = (): string => newId("ses");

/** The id of an executor, with its host name for readers of the log. */
export const newExecutorId = (host: string): string => `${newId("exe")}@${host.slice(0, 50)}`;

/** Returns a random id: the prefix, and 72 random bits without those that are hard to copy. */
function newId(prefix: string): string {
  for (;;) {
    // Requesting random bytes from the system takes longer than everything else here, so it is done in bulk.
    if (pool.byteLength === 0) pool = randomBytes(ID_BYTES * POOL_IDS);
    const id = pool.toString("base64url", 0, ID_BYTES);
    pool = pool.subarray(ID_BYTES);
    // A hyphen at an end looks like punctuation, to people and to models.
    if (!/^[-_]|[-_]$/.test(id)) return `${prefix}_${id}`;
  }
}

const LOGGABLE_ID = /^[\w.:~-]{1,128}$/;

/** Returns the client's own request id when it is safe to log, else a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && LOGGABLE_ID.test(header) ? header : newRequestId();
}
