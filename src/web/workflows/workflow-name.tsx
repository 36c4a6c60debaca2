/** Names of workflows by their ids. All that a page shows are requested together. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { send } from "../api/client.ts";
import { batched } from "../api/batched.ts";

/** Maximum number of ids of one request. */
const MAX_IDS = 100;

const loadName = batched(MAX_IDS, async (ids: readonly string[]) => {
  const { data } = await send("get", "/workflow-names", { query: { ids: [...ids] } });
  return new Map(data.items.map(({ id, name }) => [id, name]));
});

/** The name of a workflow; null if the user can't see it. */
const workflowNameQuery = (id: string) =>
  queryOptions({
    queryKey: ["workflows", "name", id],
    queryFn: async () => (await loadName(id)) ?? null,
    staleTime: 60_000,
  });

/** @returns the name; the id until it is loaded, and for a workflow that the user can't see; null for null */
export function useWorkflowName<T extends string | null>(id: T): T {
  const { data } = useQuery({ ...workflowNameQuery(id ?? ""), enabled: id !== null });
  return id === null ? id : ((data ?? id) as T);
}

/** The name of a workflow as text, with its id in the title. */
export function WorkflowName({ id }: { id: string }) {
  const name = useWorkflowName(id);
  return name === id ? <>{id}</> : <span title={id}>{name}</span>;
}
