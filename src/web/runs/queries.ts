/** The queries of the run pages. Every query key starts with "runs". */
import { queryOptions } from "@tanstack/react-query";
import type { Run, RunStep } from "../../../schemas/run.ts";
import type { RunComparison } from "../../../schemas/run-comparison.ts";
import type { Schemas } from "../../../schemas/generated/endpoints.ts";
import { type ApiResponse, send } from "../api/client.ts";
import { isTruncated } from "../values/classify-value.ts";

/** Maximum size of a value that is loaded with its step, in characters of JSON; a larger one is truncated. */
const MAX_VALUE_CHARS = 20_000;
/** Size of each part of a full value, in characters of JSON. */
const PART_CHARS = 100_000;
/** Smallest preview that the API allows, in characters; for values that are not shown. */
const MIN_CHARS = 100;

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ["runs", runId, "run"],
    queryFn: async ({ signal }): Promise<Run> =>
      (
        await send("get", "/runs/{run_id}", {
          path: { run_id: runId },
          query: { detail: "steps", max_chars: MAX_VALUE_CHARS },
          signal,
        })
      ).data,
  });

/**
 * One step, or one item of its fan-out, with input and output.
 * @param revision changes whenever the step does, so that it is loaded again
 * @param itemStatus lists only the items with this status
 */
export const stepQuery = (
  runId: string,
  stepId: string,
  item: number | undefined,
  revision: string,
  itemStatus?: "failed",
) =>
  queryOptions({
    queryKey: ["runs", runId, "step", stepId, item ?? null, itemStatus ?? null, revision],
    queryFn: async ({ signal }): Promise<RunStep> => {
      const query = {
        step_id: stepId,
        max_chars: MAX_VALUE_CHARS,
        ...(item !== undefined && { item }),
        ...(itemStatus !== undefined && { item_status: itemStatus }),
      };
      const { data } = await send("get", "/runs/{run_id}", { path: { run_id: runId }, query, signal });
      return data.steps![0]!;
    },
    // Shows the previous state until the new one is loaded.
    placeholderData: (before, query) =>
      query?.queryKey[3] === stepId &&
      query.queryKey[4] === (item ?? null) &&
      query.queryKey[5] === (itemStatus ?? null)
        ? before
        : undefined,
  });

/** The run with the attempts of its first 30 steps, the page size of the API. */
export const attemptsQuery = (runId: string, revision: string) =>
  queryOptions({
    queryKey: ["runs", runId, "attempts", revision],
    queryFn: async ({ signal }): Promise<Run> => {
      const query = { detail: "full", max_chars: MIN_CHARS } as const;
      return (await send("get", "/runs/{run_id}", { path: { run_id: runId }, query, signal })).data;
    },
    placeholderData: (before, query) => (query?.queryKey[1] === runId ? before : undefined),
  });

/** The definition that the run executes: that of its version, or the one that it was retried with. */
export const definitionQuery = (runId: string) =>
  queryOptions({
    queryKey: ["runs", runId, "definition"],
    queryFn: async ({ signal }): Promise<Record<string, unknown>> =>
      (await send("get", "/runs/{run_id}/definition", { path: { run_id: runId }, signal })).data.definition,
    staleTime: Infinity,
  });

/** What a run got: its whole inputs, however large. */
export interface RunInputs {
  run: Run;
  inputs: Record<string, unknown>;
}

export const inputsQuery = (runId: string) =>
  queryOptions({
    queryKey: ["runs", runId, "inputs"],
    queryFn: async ({ signal }): Promise<RunInputs> => {
      const query = { detail: "summary", max_chars: MAX_VALUE_CHARS } as const;
      const { data: run } = await send("get", "/runs/{run_id}", { path: { run_id: runId }, query, signal });
      const inputs: unknown = (await fullValueLoader(runId, run.inputs)?.()) ?? run.inputs;
      return { run, inputs: inputs as Record<string, unknown> };
    },
    staleTime: Infinity,
  });

/** @param other the run to compare with; left out, the last one before that succeeded */
export const comparisonQuery = (runId: string, other: string | undefined) =>
  queryOptions({
    queryKey: ["runs", runId, "compare", other ?? null],
    queryFn: async ({ signal }): Promise<RunComparison> => {
      const query = other === undefined ? {} : { with: other };
      return (await send("get", "/runs/{run_id}/compare", { path: { run_id: runId }, query, signal })).data;
    },
  });

/** Loads a truncated value in parts. */
async function loadFullValue(runId: string, ref: string): Promise<unknown> {
  let text = "";
  for (let offset: number | null = 0; offset !== null;) {
    const { data }: ApiResponse<Schemas.RunValue> = await send("get", "/runs/{run_id}/values/{ref}", {
      path: { run_id: runId, ref },
      query: { offset, max_chars: PART_CHARS },
    });
    text += data.text;
    offset = data.next_offset;
  }
  return JSON.parse(text);
}

/** @returns a function that loads the full value; undefined when the value is not truncated */
export const fullValueLoader = (runId: string, value: unknown): (() => Promise<unknown>) | undefined =>
  isTruncated(value) ? () => loadFullValue(runId, value.ref) : undefined;
