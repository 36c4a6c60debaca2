/** The ids that the log line of a request names. They are taken from parsed input and output only. */

export interface ResourceIds {
  workflow_id?: string;
  run_id?: string;
}

const RUN = /^run_/;

/** @param output the output of the operation, whose id counts when it is a run's */
export function resourceIdsOf(input: Readonly<Record<string, unknown>>, output?: unknown): ResourceIds {
  const result = (output ?? {}) as Readonly<Record<string, unknown>>;
  const run = text(input["run_id"]) ?? (RUN.test(text(result["id"]) ?? "") ? text(result["id"]) : undefined);
  const workflow = text(input["workflow_id"]) ?? text(result["workflow_id"]);
  return {
    ...(workflow !== undefined && { workflow_id: workflow }),
    ...(run !== undefined && { run_id: run }),
  };
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
