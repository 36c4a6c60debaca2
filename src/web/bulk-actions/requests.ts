/** The requests of a bulk action: its preview, and its start. */
import { MAX_BULK_CONCURRENCY } from "../../../schemas/bulk-action-limits.ts";
import type { Issue } from "../../../schemas/problem.ts";
import { ApiError } from "../api/client.ts";
import type { BulkChoice } from "./choice.ts";
import type { PreviewRequest } from "./queries.ts";

interface Refinement {
  project: string | undefined;
  version: number | undefined;
  /** The workflow of all runs, as a preview has said. */
  workflow: string | undefined;
}

/** What is asked for, as far as it changes what happens. Named runs need no filter beside them. */
export function previewRequest(
  { action, runs }: BulkChoice,
  { project, version, workflow }: Refinement,
): PreviewRequest {
  const isNamed = runs.run_ids !== undefined;
  return {
    action,
    ...runs,
    ...(project !== undefined && { project }),
    ...(version !== undefined && { version }),
    ...(version !== undefined && workflow !== undefined && !isNamed && { workflow_id: workflow }),
  };
}

export interface StartFields {
  rate: string;
  concurrency: number;
  reason: string;
}

/**
 * Reads how many retries may be unfinished at a time.
 * @param typed text of the field, or its number
 * @returns undefined if the API would refuse it
 */
export function readConcurrency(typed: string | number): number | undefined {
  const text = String(typed).trim();
  const value = Number(text);
  return /^\d+$/.test(text) && value >= 1 && value <= MAX_BULK_CONCURRENCY ? value : undefined;
}

/** The same request with the digest of its preview, which starts exactly that. */
export function startBody(
  request: PreviewRequest,
  digest: string,
  { rate, concurrency, reason }: StartFields,
) {
  return {
    ...request,
    ...(request.action === "retry" && { concurrency }),
    ...(rate.trim() !== "" && { rate: rate.trim() }),
    ...(reason.trim() !== "" && { reason: reason.trim() }),
    digest,
  };
}

const isAmbiguous = ({ path, code }: Issue): boolean => path === "project" && code === "ambiguous";

/** The projects of which the API asks for one; none for another error. */
export const ambiguousProjects = (error: Error | null): readonly string[] =>
  error instanceof ApiError ? ((error.problem.errors ?? []).find(isAmbiguous)?.allowed ?? []) : [];
