/**
 * Shares the places of a pool among owners: the slots of an executor, the processes of a database, the capacity of a
 * resource. The rule is that of dynamic thresholds (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory
 * packet switches", IEEE/ACM Transactions on Networking, 1998): what an owner may hold shrinks with what is free. So one
 * owner alone gets most of the pool, several get equal parts, and nobody has to count the others.
 */

/** How many times the free places an owner may hold: one owner alone gets 3/4 of a pool, two get 3/7 each. */
const ALPHA = 3;

/**
 * Whether an owner may take one more place of a pool. The last free place is left for an owner who holds none.
 * @param held places that the owner holds
 * @param free places that nobody holds
 */
export function mayTakePlace({ held, free }: { held: number; free: number }): boolean {
  return held === 0 ? free > 0 : free > 1 && held < ALPHA * free;
}

/** Whether an owner may take `count` more places of a pool: whether it may take the last of them. */
export const mayTakePlaces = (count: number, { held, free }: { held: number; free: number }): boolean =>
  mayTakePlace({ held: held + count - 1, free: free - count + 1 });

/** How many places of a pool one owner gets who is alone. */
export const shareAlone = (places: number): number =>
  places <= 1 ? places : Math.min(places - 1, Math.ceil((places * ALPHA) / (ALPHA + 1)));
