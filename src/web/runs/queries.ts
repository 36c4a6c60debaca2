/** What the pages of a run ask the server for. Every key begins with "runs". */
import { queryOptions } from "@tanstack/react-query";
import type { Run, RunStep } from "../../../schemas/run.ts";
import type { Schemas } from "../../../schemas/generated/endpoints.ts";
import { type ApiResponse, send } from "../api/client.ts";
import { isTruncated } from "../values/classify-value.ts";

/** Values up to so many characters of JSON come at once; the others are loaded when somebody wants the whole. */
const VALUE_CHARS = 20_000;
const PIECE_CHARS = 100_000;
/** Previews that nobody looks at. */
const LEAST_CHARS = 100;

/** The run with the state of all its steps. */
export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ["runs", runId, "run"],
    queryFn: async ({ signal }): Promise<Run> =>
      (
        await send("get", "/runs/{run_id}", {
          path: { run_id: runId },
          query: { detail: "steps", max_chars: VALUE_CHARS },
          signal,
        })
      ).data,
  });

/**
 * One step, or one item of its fan-out, with what it took and gave.
 * @param moved what changes whenever the step does: then it is asked for again
 */
export const stepQuery = (runId: string, stepId: string, item: number | undefined, moved: string) =>
  queryOptions({
    queryKey: ["runs", runId, "step", stepId, item ?? null, moved],
    queryFn: async ({ signal }): Promise<RunStep> => {
      const query = { step_id: stepId, max_chars: VALUE_CHARS, ...(item !== undefined && { item }) };
      const { data } = await send("get", "/runs/{run_id}", { path: { run_id: runId }, query, signal });
      return data.steps![0]!;
    },
    // While it moves, what was shown stays until the newer is there.
    placeholderData: (before, query) =>
      query?.queryKey[3] === stepId && query.queryKey[4] === (item ?? null) ? before : undefined,
  });

/** The run with the attempts of its steps: the first 30, as many as the API gives at once. */
export const attemptsQuery = (runId: string, moved: string) =>
  queryOptions({
    queryKey: ["runs", runId, "attempts", moved],
    queryFn: async ({ signal }): Promise<Run> => {
      const query = { detail: "full", max_chars: LEAST_CHARS } as const;
      return (await send("get", "/runs/{run_id}", { path: { run_id: runId }, query, signal })).data;
    },
    placeholderData: (before, query) => (query?.queryKey[1] === runId ? before : undefined),
  });

/** What the run follows: its version's definition, or one of its own that it was retried on. */
export const definitionQuery = (runId: string) =>
  queryOptions({
    queryKey: ["runs", runId, "definition"],
    queryFn: async ({ signal }): Promise<Record<string, unknown>> =>
      (await send("get", "/runs/{run_id}/definition", { path: { run_id: runId }, signal })).data.definition,
    // It never changes.
    staleTime: Infinity,
  });

/** The whole of a value that was cut, piece by piece. */
async function wholeValue(runId: string, ref: string): Promise<unknown> {
  let text = "";
  for (let offset: number | null = 0; offset !== null;) {
    const { data }: ApiResponse<Schemas.RunValue> = await send("get", "/runs/{run_id}/values/{ref}", {
      path: { run_id: runId, ref },
      query: { offset, max_chars: PIECE_CHARS },
    });
    text += data.text;
    offset = data.next_offset;
  }
  return JSON.parse(text);
}

/** How `ValueView` gets the whole of a value that was cut; undefined where it is whole. */
export const fullValueLoader = (runId: string, value: unknown): (() => Promise<unknown>) | undefined =>
  isTruncated(value) ? () => wholeValue(runId, value.ref) : undefined;
