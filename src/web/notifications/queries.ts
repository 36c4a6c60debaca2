/** The queries of subscriptions and their deliveries. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { DeliveryState, Subscription } from "../../../schemas/subscription.ts";
import { send } from "../api/client.ts";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";

/** How often what changes by itself is read again, in milliseconds. */
const REFRESH_MS = 5_000;

/** All subscriptions: a project has 50 at most. */
export const subscriptionsQuery = (project: { project?: string }) =>
  queryOptions({
    queryKey: ["subscriptions", "list", project],
    queryFn: async ({ signal }): Promise<Subscription[]> =>
      (await send("get", "/subscriptions", { query: project, signal })).data,
    refetchInterval: REFRESH_MS,
  });

export interface DeliveryFilter {
  project?: string;
  subscription_id?: string;
  state?: DeliveryState;
}

export const deliveriesQuery = (filter: DeliveryFilter) =>
  infiniteQueryOptions({
    queryKey: ["subscriptions", "deliveries", filter],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/deliveries", { query: { limit: 20, ...filter, ...cursorParam(pageParam) }, signal }),
    ...cursorPagination,
    refetchInterval: REFRESH_MS,
  });
