/**
 * What the queues of deliveries have in common: those that triggers have received, and those to subscriptions. A queue belongs to
 * one owner. Executors claim from the queues in turns over the owners.
 */

export interface DueQueue {
  /** What `claim` takes. */
  queue: string;
  /** The usage subject of its owner. */
  subject: string;
}

export interface DueQueueReader {
  /** The queues with a delivery that is due and not claimed. @param now ISO 8601 */
  dueQueues(now: string): Promise<DueQueue[]>;
}

export interface DeliveryClaim {
  now: string;
  /** When the claim ends (ISO 8601). */
  until: string;
  /** The id of the executor. */
  by: string;
  limit: number;
}

export interface ClaimableQueue<T> {
  /**
   * Claims the deliveries of a queue that have been due for longest, at most `limit`.
   *
   * Guarantee: of concurrent callers one gets each delivery, and each claim raises its fence. A claim ends by itself at `until`, so that a
   * delivery of a process that died is handled again; those of an executor that is found dead are due at once.
   * Concurrent callers: skip deliveries that another transaction has locked.
   */
  claim(queue: string, claim: DeliveryClaim): Promise<T[]>;
}
