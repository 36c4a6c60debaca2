/** The workflows of the simulation: those of the crash tests, and one for each further promise about crashes. */
import { crashWorkflows, type CrashWorkflow, SCHEDULED_WORKFLOW } from "../support/crash-workflows.ts";

/** The address of the peer that all steps call. */
export const PEER = "http://peer.test";
const inputs = { type: "object", properties: { n: { type: "integer", default: 1 } } };

/** A delivery to its webhook starts a run with the `n` of its body; its `id` says what repeats it. */
export const HOOKED_WORKFLOW = "hook";
/** Several of its runs at a time add 1 to `count` in its state; those that are too late fail. */
const TALLYING_WORKFLOW = "tally";
/** An MCP server that one step at a time may use. */
export const LIMITED_SERVER = "press";
/** Its payments are settled by a person. */
export const PAYING_WORKFLOWS: readonly string[] = ["pay", "pay-with-lookup"];
/** Its effect is sent again by itself, unless a person has settled before that it happened. */
export const RISKING_WORKFLOW = "risk";
/** Its runs fail, and a client retries them: the first step is not sent again. */
export const RETRIED_WORKFLOW = "second";
/** A run of it follows each failure of `alarmed`. */
export const HANDLING_WORKFLOW = "handler";
/** It is called after an approval. Clients publish new versions of it meanwhile. */
export const CALLED_WORKFLOW = "callee";
/** A version of it. The versions differ in a value that nothing reads. */
export const calledDefinition = (version: number) => ({
  inputs,
  steps: [{ id: "a", type: "set", values: { version } }],
  output: "${{ inputs.n + 1 }}",
});
/** The path of calls that does not say which run they belong to. */
export const LEDGER = "/ledger/";
/** Its event never matches. */
export const PICKY_WORKFLOW = "picky";
/** Attempts of the steps with `retry` in `hopeless`. */
export const HOPELESS_ATTEMPTS = 3;
/** The pause before the second attempt of a step, in milliseconds. */
export const RETRY_MS = 50;

const retry = { attempts: 20, backoff: "fixed", initial: `${RETRY_MS}ms` };

/** A step that calls the peer. */
const call = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  type: "http",
  method: "POST",
  url: `${PEER}/\${{ run.id }}/${id}/-1`,
  retry,
  ...more,
});

/** A step that fails after `work`. */
const FAILING = { id: "gate", type: "assert", that: "steps.work.body.one < 0", message: "Never." };

/** A step that uses the limited server. */
const press = (id: string) => ({
  id,
  type: "tool",
  server: LIMITED_SERVER,
  tool: "work",
  needs: ["first"],
  arguments: { ref: `\${{ run.id }}/${id}/-1`, n: "${{ steps.first.x }}" },
  retry,
});

export interface SimulatedWorkflow extends CrashWorkflow {
  /** The codes of errors that some runs may fail with. */
  mayFailWith?: readonly string[];
}

const MORE: readonly SimulatedWorkflow[] = [
  {
    name: "pay",
    definition: {
      inputs,
      steps: [call("pay", { timeout: "5s", on_interrupted: "ask" })],
      output: "${{ steps.pay.body.one + inputs.n }}",
    },
    expectedOutput: (n) => n + 1,
  },
  {
    name: "pay-with-lookup",
    definition: {
      inputs,
      steps: [
        call("pay", {
          timeout: "5s",
          on_interrupted: "ask",
          lookup: {
            type: "http",
            url: `${PEER}/lookup`,
            query: { key: "${{ idempotency_key }}" },
            retry,
            happened: "result.body.found",
            output: { status_code: 200, headers: {}, body: { one: 1 } },
          },
        }),
      ],
      output: "${{ steps.pay.body.one + inputs.n }}",
    },
    expectedOutput: (n) => n + 1,
  },
  {
    name: HOOKED_WORKFLOW,
    definition: {
      inputs,
      triggers: [
        {
          id: "in",
          type: "webhook",
          payload: {
            type: "object",
            properties: { n: { type: "integer" }, id: { type: "string" } },
            required: ["n", "id"],
          },
          deduplicate: "event.body.id",
          inputs: { n: "${{ event.body.n }}" },
        },
      ],
      steps: [
        call("work"),
        { id: "sum", type: "set", values: { y: "${{ inputs.n + steps.work.body.one }}" } },
      ],
      output: "${{ steps.sum.y }}",
    },
    expectedOutput: (n) => n + 1,
  },
  {
    name: "brief",
    definition: {
      inputs,
      // The later one of the person and the timeout changes nothing.
      steps: [
        { id: "ok", type: "approval", message: "Quick?", timeout: "2s", on_error: "continue" },
        { id: "after", type: "set", values: { y: "${{ inputs.n + 1 }}" } },
      ],
      output: "${{ steps.after.y }}",
    },
    expectedOutput: (n) => n + 1,
  },
  {
    name: RISKING_WORKFLOW,
    definition: {
      inputs,
      steps: [call("pay", { retry: { attempts: 20, backoff: "fixed", initial: "800ms" }, timeout: "5s" })],
      output: "${{ steps.pay.body.one + inputs.n }}",
    },
    expectedOutput: (n) => n + 1,
  },
  {
    name: "hopeless",
    failsWith: "http_status",
    mayFailWith: ["http_failed", "timeout"],
    definition: {
      inputs,
      steps: [
        call("work", {
          query: { busy: "1" },
          retry: { attempts: HOPELESS_ATTEMPTS, backoff: "fixed", initial: `${RETRY_MS}ms` },
        }),
      ],
    },
    expectedOutput: () => undefined,
  },
  {
    name: PICKY_WORKFLOW,
    definition: {
      inputs,
      steps: [
        call("submit"),
        {
          id: "callback",
          type: "wait",
          event: {
            schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
            match: "event.body.n == inputs.n + 1",
          },
          timeout: "3s",
          on_error: "continue",
        },
        { id: "sum", type: "set", values: { y: "${{ inputs.n + steps.submit.body.one }}" } },
      ],
      output: "${{ steps.sum.y }}",
    },
    expectedOutput: (n) => n + 1,
  },
  { name: CALLED_WORKFLOW, definition: calledDefinition(1), expectedOutput: (n) => n + 1 },
  {
    name: "gated",
    definition: {
      inputs,
      steps: [
        { id: "ok", type: "approval", message: "Go on?", timeout: "1h" },
        { id: "child", type: "workflow", workflow: CALLED_WORKFLOW, inputs: { n: "${{ inputs.n }}" } },
      ],
      output: "${{ steps.child.output }}",
    },
    expectedOutput: (n) => n + 1,
  },
  {
    name: HANDLING_WORKFLOW,
    definition: {
      inputs: { type: "object", properties: { run_id: { type: "string" } } },
      steps: [call("work")],
      output: "${{ steps.work.body.one }}",
    },
    expectedOutput: () => 1,
  },
  {
    name: "alarmed",
    failsWith: "assert_failed",
    definition: {
      inputs,
      steps: [call("work"), FAILING],
      on_failure: HANDLING_WORKFLOW,
    },
    expectedOutput: () => undefined,
  },
  {
    name: "hasty",
    failsWith: "run_timeout",
    definition: {
      inputs,
      timeout: "1500ms",
      steps: [call("work"), { id: "nap", type: "wait", for: "1h" }],
    },
    expectedOutput: () => undefined,
  },
  {
    name: RETRIED_WORKFLOW,
    mayFailWith: ["http_status"],
    definition: {
      inputs: { type: "object", properties: { n: { type: "integer" }, ref: { type: "string" } } },
      steps: [
        call("a", { url: `${PEER}${LEDGER}\${{ inputs.ref }}/a` }),
        // The first call that arrives fails for good.
        call("b", { url: `${PEER}${LEDGER}\${{ inputs.ref }}/b`, query: { fail: "first" }, needs: ["a"] }),
      ],
      output: "${{ inputs.n + steps.a.body.one + steps.b.body.one }}",
    },
    expectedOutput: (n) => n + 2,
  },
  {
    name: "doomed",
    failsWith: "assert_failed",
    definition: {
      inputs,
      steps: [call("work"), FAILING],
    },
    expectedOutput: () => undefined,
  },
  {
    name: "guardian",
    definition: {
      inputs,
      steps: [
        { id: "child", type: "workflow", workflow: "doomed", inputs: { n: 1 }, on_error: "continue" },
        call("side"),
        {
          id: "sum",
          type: "set",
          needs: ["child", "side"],
          values: { y: "${{ inputs.n + steps.side.body.one }}" },
        },
      ],
      output: "${{ steps.sum.y }}",
    },
    expectedOutput: (n) => n + 1,
  },
  {
    // Its child may end before, while and after its other step fails.
    name: "reckless",
    failsWith: "assert_failed",
    definition: {
      inputs,
      steps: [
        { id: "child", type: "workflow", workflow: "chain", needs: [], inputs: { n: 1 } },
        call("side", { needs: [] }),
        { id: "late", type: "wait", needs: ["side"], for: "150ms" },
        { id: "gate", type: "assert", needs: ["late"], that: "inputs.n < 0", message: "Never." },
      ],
    },
    expectedOutput: () => undefined,
  },
  {
    name: TALLYING_WORKFLOW,
    mayFailWith: ["state_conflict"],
    definition: {
      inputs,
      state: { count: { type: "integer", default: 0 } },
      steps: [call("work"), { id: "next", type: "set", values: { count: "${{ state.count + 1 }}" } }],
      output: "${{ inputs.n + steps.work.body.one }}",
      commit: { count: "${{ steps.next.count }}" },
    },
    expectedOutput: (n) => n + 1,
  },
  {
    name: "many",
    definition: {
      inputs,
      steps: [
        call("each", {
          for_each: "[1, 1, 0, 1, 1, 0]",
          concurrency: 2,
          on_error: "continue",
          url: `${PEER}/\${{ run.id }}/each/\${{ index }}`,
          query: { fail: "${{ item }}" },
        }),
        {
          id: "count",
          type: "set",
          values: { y: "${{ steps.each.items.filter(i, i.status == 'succeeded').size() + inputs.n }}" },
        },
      ],
      output: "${{ steps.count.y }}",
    },
    expectedOutput: (n) => n + 2,
  },
  {
    // A connection that one step may use at a time.
    name: "narrow",
    definition: {
      inputs,
      steps: [
        { id: "first", type: "set", values: { x: "${{ inputs.n }}" } },
        press("work"),
        press("again"),
        {
          id: "sum",
          type: "set",
          needs: ["work", "again"],
          values: { y: "${{ steps.work.output.one + steps.again.output.one + inputs.n }}" },
        },
      ],
      output: "${{ steps.sum.y }}",
    },
    expectedOutput: (n) => n + 2,
  },
  {
    name: "dawdle",
    definition: {
      inputs,
      steps: [
        call("a"),
        { id: "nap1", type: "wait", for: "2s" },
        call("b"),
        { id: "nap2", type: "wait", for: "2s" },
        call("c"),
        { id: "nap3", type: "wait", for: "2s" },
        call("d"),
      ],
      output: "${{ inputs.n + steps.d.body.one }}",
    },
    expectedOutput: (n) => n + 1,
  },
  {
    name: "patron",
    definition: {
      inputs,
      steps: [{ id: "child", type: "workflow", workflow: "dawdle", inputs: { n: "${{ inputs.n }}" } }],
      output: "${{ steps.child.output + 1 }}",
    },
    expectedOutput: (n) => n + 2,
  },
];

/** All workflows, with slots of the schedule that are further apart: each is a run. */
export const simulatedWorkflows: readonly SimulatedWorkflow[] = [...crashWorkflows(PEER), ...MORE].map(
  (workflow) => (workflow.name === SCHEDULED_WORKFLOW ? withFewerSlots(workflow) : workflow),
);

function withFewerSlots(workflow: CrashWorkflow): CrashWorkflow {
  const schedule = { cron: "*/10 * * * * *", timezone: "Europe/Berlin", overlap: "skip" };
  return { ...workflow, definition: { ...workflow.definition, schedule } };
}
