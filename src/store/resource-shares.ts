/** How the owners share the capacity of limited resources, over all executors. */
import { type Kysely, sql } from "kysely";
import { mayTakePlace } from "../core/fair-share.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";

export interface ResourceShares {
  /** The resources of which no further job can start: of anybody's, or of one owner's. */
  full(owner?: string): readonly string[];
  /** Records that a job of an owner takes a place of a resource. */
  take(owner: string, resource: string | null): void;
}

const claimedPlaces = prepared((db) =>
  db
    .selectFrom("jobs")
    .select((eb) => ["resource" as const, "subject" as const, eb.fn.countAll<number>().as("count")])
    .where("state", "=", sql.lit("claimed"))
    .where("resource", "is not", null)
    .groupBy(["resource", "subject"]),
);

/** @param limits maximum number of claimed jobs for each resource */
export async function resourceShares(
  trx: Kysely<Schema>,
  limits: ReadonlyMap<string, number>,
): Promise<ResourceShares> {
  const free = new Map(limits);
  /** The places that each owner holds, by resource. */
  const held = new Map([...limits.keys()].map((resource) => [resource, new Map<string, number>()]));
  const take = (owner: string, resource: string | null, count = 1): void => {
    const owners = held.get(resource ?? "");
    if (resource === null || owners === undefined) return;
    owners.set(owner, (owners.get(owner) ?? 0) + count);
    free.set(resource, free.get(resource)! - count);
  };
  if (limits.size > 0)
    for (const { resource, subject, count } of await claimedPlaces(trx)) take(subject, resource, count);
  return {
    full: (owner) =>
      [...free]
        .filter(
          ([resource, places]) =>
            !mayTakePlace({
              held: owner === undefined ? 0 : (held.get(resource)!.get(owner) ?? 0),
              free: places,
            }),
        )
        .map(([resource]) => resource),
    take,
  };
}
