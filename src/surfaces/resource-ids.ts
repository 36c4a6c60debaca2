/** What a request was about, for its line in the log: ids only, and only such as an operation has understood. */

export interface ResourceIds {
  workflow_id?: string;
  run_id?: string;
}

const RUN = /^run_/;

/** @param output what the operation gave; a run's names itself */
export function resourceIdsOf(input: Readonly<Record<string, unknown>>, output?: unknown): ResourceIds {
  const given = (output ?? {}) as Readonly<Record<string, unknown>>;
  const run = text(input["run_id"]) ?? (RUN.test(text(given["id"]) ?? "") ? text(given["id"]) : undefined);
  const workflow = text(input["workflow_id"]) ?? text(given["workflow_id"]);
  return {
    ...(workflow !== undefined && { workflow_id: workflow }),
    ...(run !== undefined && { run_id: run }),
  };
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
