/** The parity scenarios of single steps and queries. */
import { crowded, idOf, type ParityCall } from "./parity-scenarios.ts";

const hello = { type: "set", values: { greeting: "Good morning, ${{ inputs.name }}" } };
const step = (input: Record<string, unknown>, more: Partial<ParityCall> = {}): ParityCall => ({
  call: "run_step",
  with: { step: hello, inputs: { name: "Ann" }, wait: 20, ...input },
  ...more,
});
const query = (input: Record<string, unknown>, more: Partial<ParityCall> = {}): ParityCall => ({
  call: "query_database",
  with: { database: "shop", sql: "SELECT * FROM orders", ...input },
  ...more,
});

export const STEP_SCENARIOS: Record<string, ParityCall[]> = {
  run_step: [
    step({}),
    step({ step: { ...hello, id: "hello" }, idempotency_key: "s" }),
    step({ step: { ...hello, id: "hello" }, idempotency_key: "s" }),
    step({ idempotency_key: "s" }, { expect: "idempotency_key_reused" }),
    {
      call: "run_step",
      with: (before) => ({
        step: { type: "set", values: { again: "${{ inputs.text }}" } },
        from: { text: `${idOf(before, 0)}.greeting` },
        wait: 20,
      }),
    },
    step({ step: { type: "assert", that: "1 > 2", message: "Never." } }),
    step({ inputs: {}, from: { name: "run_none.greeting" } }, { expect: "run_not_found" }),
    step({ inputs: {} }, { expect: "invalid_input" }),
    step({ step: { type: "sett" } }, { expect: "invalid_input" }),
    step({ from: { name: "greeting" } }, { expect: "invalid_input" }),
    step({ step: [] }, { expect: "invalid_input" }),
    step({ project: "none" }, { expect: "project_not_found" }),
    step({}, { readOnly: true, expect: "missing_scope" }),
    { call: "list_runs" },
    { call: "get_run", with: (before) => ({ run_id: idOf(before, 0), detail: "full" }) },
    { call: "get_run_definition", with: (before) => ({ run_id: idOf(before, 0) }) },
    { call: "retry_run", with: (before) => ({ run_id: idOf(before, 0), wait: 20 }) },
    {
      call: "retry_run",
      with: (before) => ({ run_id: idOf(before, 0), patch: [] }),
      expect: "invalid_input",
    },
    {
      call: "create_workflow",
      with: (before) => ({ name: "Trail", from: [idOf(before, 0), idOf(before, 4)] }),
    },
    ...crowded,
    step({}, { expect: "too_many_runs" }),
  ],
  query_database: [
    query({}),
    query({ sql: "SELECT amount * :times AS amount FROM orders", params: { times: 2 }, max_rows: 1 }),
    query({ sql: "SELECT hex(zeroblob(5000)) AS body" }),
    query({ sql: "SELECT nothing FROM orders" }, { expect: "invalid_input" }),
    query({ sql: "DELETE FROM orders" }, { expect: "invalid_input" }),
    query({ max_rows: 200 }),
    query({ max_rows: 1_001 }, { expect: "invalid_input" }),
    query({ database: "shpo" }, { expect: "database_not_found" }),
    query({ project: "none" }, { expect: "project_not_found" }),
    query({}, { readOnly: true, expect: "missing_scope" }),
    { call: "list_runs" },
    ...crowded,
    query({}, { expect: "too_many_runs" }),
  ],
};
