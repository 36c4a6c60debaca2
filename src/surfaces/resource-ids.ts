/** The ids that the log line of a request names. They are taken from parsed input and output only. */

export interface ResourceIds {
  workflow_id?: string;
  run_id?: string;
}

const RUN_ID = /^run_/;

/** @param output the output of the operation; its id is used if it is that of a run */
export function resourceIdsOf(input: Readonly<Record<string, unknown>>, output?: unknown): ResourceIds {
  const result = (output ?? {}) as Readonly<Record<string, unknown>>;
  const run =
    text(input["run_id"]) ?? (RUN_ID.test(text(result["id"]) ?? "") ? text(result["id"]) : undefined);
  const workflow = text(input["workflow_id"]) ?? text(result["workflow_id"]);
  return {
    ...(workflow !== undefined && { workflow_id: workflow }),
    ...(run !== undefined && { run_id: run }),
  };
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
