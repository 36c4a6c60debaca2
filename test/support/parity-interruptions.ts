/** The parity scenarios of interruptions. */
import { lastOutput, type ParityCall } from "./parity-scenarios.ts";

type Before = Parameters<typeof lastOutput>[0];
type Input = Record<string, unknown>;

/** Opens an interruption of a run, as if its executor had died. */
export const INTERRUPT = "(interrupt)";

const HELLO: ParityCall = {
  call: "create_workflow",
  with: { name: "Hello", definition: { steps: [{ id: "hello", type: "set", values: { a: 1 } }] } },
};
/** A run of the workflow with an interruption, whose id is the last output. */
const INTERRUPTED: readonly ParityCall[] = [
  { call: "run_workflow", with: { workflow_id: "hello", wait: 20 } },
  { call: INTERRUPT, with: (before) => ({ run_id: lastOutput(before)["id"] }) },
];
const call = (name: string, input: ParityCall["with"], more: Partial<ParityCall> = {}): ParityCall => ({
  call: name,
  with: input!,
  ...more,
});
/** @param back how many calls before the interruption was opened */
const of =
  (back: number, more: Input = {}) =>
  (before: Before): Input => ({ interruption_id: before.at(-back)!.output!["id"], ...more });
const NONE = { interruption_id: "int_none" };
const SETTLED = { outcome: "happened", output: { value: "p1" }, comment: "Seen.", idempotency_key: "s" };

export const INTERRUPTION_SCENARIOS: Readonly<Record<string, readonly ParityCall[]>> = {
  list_interruptions: [
    HELLO,
    call("list_interruptions", {}),
    ...INTERRUPTED,
    ...INTERRUPTED,
    call("list_interruptions", { workflow_id: "hello", project: "default" }, { readOnly: true }),
    call("list_interruptions", (before) => ({ run_id: before[2]!.output!["id"], status: "all" })),
    call("list_interruptions", { status: "settled" }),
    call("list_interruptions", { limit: 1 }),
    call("list_interruptions", (before) => ({ limit: 1, cursor: lastOutput(before)["next_cursor"] })),
    call("list_interruptions", { cursor: "forged" }, { expect: "invalid_cursor" }),
    call("list_interruptions", { status: "lost" }, { expect: "invalid_input" }),
    call("list_interruptions", { workflow_id: "none" }, { expect: "workflow_not_found" }),
    call("list_interruptions", { project: "none" }, { expect: "project_not_found" }),
  ],
  get_interruption: [
    HELLO,
    ...INTERRUPTED,
    call("get_interruption", of(1), { readOnly: true }),
    call("get_run", (before) => ({ run_id: before[1]!.output!["id"] })),
    call("get_interruption", NONE, { expect: "interruption_not_found" }),
    call("get_interruption", { interruption_id: "i".repeat(101) }, { expect: "invalid_input" }),
  ],
  settle_interruption: [
    HELLO,
    ...INTERRUPTED,
    call("settle_interruption", of(1, SETTLED), { readOnly: true, expect: "missing_scope" }),
    call("settle_interruption", of(2, { ...SETTLED, outcome: "unknown" }), { expect: "invalid_input" }),
    call("settle_interruption", of(3, SETTLED)),
    call("settle_interruption", of(4, SETTLED)),
    call("settle_interruption", of(5, { ...SETTLED, comment: null }), { expect: "idempotency_key_reused" }),
    call("settle_interruption", of(6, { outcome: "unknown" }), { expect: "interruption_settled" }),
    call("get_interruption", of(7)),
    call("settle_interruption", { ...NONE, outcome: "unknown" }, { expect: "interruption_not_found" }),
  ],
};
