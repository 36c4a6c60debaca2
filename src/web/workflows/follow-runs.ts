/** Keeps the page of a workflow up to date while runs start and end, whatever has started them. */
import type { QueryClient, QueryKey } from "@tanstack/react-query";
import {
  backfillsQuery,
  recentRunsQuery,
  scheduleQuery,
  stateQuery,
  triggerDeliveriesQuery,
} from "./queries.ts";

/**
 * Loads again what runs change, once the runs, backfills or deliveries of a workflow are no longer what they were: each is polled
 * on its own, and the first that notices a change lets the others follow.
 * @returns a function that ends it
 */
export function followRuns(client: QueryClient, workflowId: string): () => void {
  const watched: readonly { queryKey: QueryKey; progress: () => string | undefined }[] = [
    {
      queryKey: recentRunsQuery(workflowId).queryKey,
      progress: () =>
        client
          .getQueryData(recentRunsQuery(workflowId).queryKey)
          ?.map(({ id, status }) => `${id} ${status}`)
          .join(),
    },
    {
      queryKey: backfillsQuery(workflowId).queryKey,
      progress: () =>
        client
          .getQueryData(backfillsQuery(workflowId).queryKey)
          ?.map(({ id, status, runs }) => `${id} ${status} ${JSON.stringify(runs)}`)
          .join(),
    },
    {
      queryKey: triggerDeliveriesQuery(workflowId).queryKey,
      progress: () =>
        client
          .getQueryData(triggerDeliveriesQuery(workflowId).queryKey)
          ?.flatMap(({ run_id: run }) => run ?? [])
          .join(),
    },
  ];
  const known = new Map(watched.map(({ queryKey, progress }) => [JSON.stringify(queryKey), progress()]));

  return client.getQueryCache().subscribe(({ type, query }) => {
    if (type !== "updated") return;
    const changed = JSON.stringify(query.queryKey);
    const progress = watched.find(({ queryKey }) => JSON.stringify(queryKey) === changed)?.progress();
    const before = known.get(changed);
    if (progress === undefined || progress === before) return;
    known.set(changed, progress);
    if (before === undefined) return;
    const others = [
      ...watched.map(({ queryKey }) => queryKey).filter((key) => JSON.stringify(key) !== changed),
      stateQuery(workflowId).queryKey,
      scheduleQuery(workflowId).queryKey,
      ["overdue-workflows"],
    ];
    for (const queryKey of others) void client.invalidateQueries({ queryKey });
  });
}
