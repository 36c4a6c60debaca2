import { useQueries } from "@tanstack/react-query";
import { workflowNameQuery } from "./names.tsx";

/** The names of workflows by their ids, without those that are not loaded or can't be read. */
export function useWorkflowNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const results = useQueries({ queries: ids.map((id) => workflowNameQuery(id)) });
  return new Map(
    ids.flatMap((id, index): [string, string][] => {
      const name = results[index]?.data;
      return typeof name === "string" ? [[id, name]] : [];
    }),
  );
}
