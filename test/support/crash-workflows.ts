/** The workflows of the crash tests, one for each kind of progress of a run, and their expected outputs. */

export interface CrashWorkflow {
  name: string;
  definition: Record<string, unknown>;
  /** The output of a successful run, by its input. */
  expectedOutput(n: number): unknown;
  /** The code of the error that every run fails with; left out, the runs succeed. */
  failsWith?: string;
}

const inputs = { type: "object", properties: { n: { type: "integer", default: 1 } } };

/** The item or iteration in the path of a call; -1 for the step itself. */
const itemOf = (step: Record<string, unknown>): string =>
  "for_each" in step ? "${{ index }}" : "repeat" in step ? "${{ loop.index }}" : "-1";

/** So many attempts that not all of them fail by chance. */
const RETRY = { attempts: 20, backoff: "fixed", initial: "50ms" };

/** A step that calls the server at `url`, which logs the call. */
const call = (url: string, id: string, more: Record<string, unknown> = {}) => ({
  id,
  type: "http",
  method: "POST",
  url: `${url}/\${{ run.id }}/${id}/${itemOf(more)}`,
  retry: RETRY,
  ...more,
});

/** What undoes such a step. */
const undo = (url: string, id: string, item = "-1") => ({
  type: "http",
  method: "POST",
  url: `${url}/\${{ run.id }}/undo:${id}/${item}`,
  retry: RETRY,
});

export const SCHEDULED_WORKFLOW = "tick";
/** Its runs wait for an event at the step `callback`, which the starter sends: `{n}`, with the input of the run. */
export const EVENT_WORKFLOW = "callback";
/** Each of its runs adds 1 to `count` in its state, one at a time. */
export const COUNTING_WORKFLOW = "count";

/** @param url the address of the server that logs calls */
export const crashWorkflows = (url: string): CrashWorkflow[] => [
  {
    name: "chain",
    definition: {
      inputs,
      steps: [
        { id: "a", type: "set", values: { x: "${{ inputs.n * 2 }}" } },
        call(url, "b"),
        { id: "c", type: "set", values: { y: "${{ steps.a.x + steps.b.body.one }}" } },
        { id: "d", type: "set", values: { y: "${{ steps.c.y + 1 }}" } },
      ],
      output: "${{ steps.d.y }}",
    },
    expectedOutput: (n) => n * 2 + 2,
  },
  {
    name: "fan",
    definition: {
      inputs,
      steps: [
        { id: "list", type: "set", values: { of: [3, 1, 4, 1, 5, 9, 2, 6] } },
        call(url, "each", { for_each: "steps.list.of", concurrency: 3 }),
        { id: "local", type: "set", for_each: "steps.list.of", values: { y: "${{ item * inputs.n }}" } },
      ],
      output: "${{ steps.local.items.map(i, i.y).sum() + steps.each.items.map(i, i.body.one).sum() }}",
    },
    expectedOutput: (n) => 31 * n + 8,
  },
  {
    name: "paced",
    definition: {
      inputs,
      steps: [
        { id: "list", type: "set", values: { of: [1, 2, 3] } },
        call(url, "each", { for_each: "steps.list.of", rate: "50/s" }),
      ],
      output: "${{ steps.each.items.map(i, i.body.one).sum() + inputs.n }}",
    },
    expectedOutput: (n) => 3 + n,
  },
  {
    name: "nap",
    definition: {
      inputs,
      steps: [
        call(url, "before"),
        { id: "nap", type: "wait", for: "400ms" },
        call(url, "after"),
        {
          id: "both",
          type: "set",
          values: { y: "${{ inputs.n + steps.before.body.one + steps.after.body.one }}" },
        },
      ],
      output: "${{ steps.both.y }}",
    },
    expectedOutput: (n) => n + 2,
  },
  {
    name: "parent",
    definition: {
      inputs,
      steps: [
        {
          id: "children",
          type: "workflow",
          workflow: "chain",
          for_each: "[1, 2, 3]",
          concurrency: 2,
          inputs: { n: "${{ item + inputs.n }}" },
        },
        call(url, "last"),
      ],
      output: "${{ steps.children.items.map(i, i.output).sum() }}",
    },
    expectedOutput: (n) => [1, 2, 3].reduce((sum, item) => sum + (item + n) * 2 + 2, 0),
  },
  {
    name: "loop",
    definition: {
      inputs,
      steps: [
        call(url, "calls", {
          repeat: {
            until: "loop.sum + result.body.one >= 5",
            max: 50,
            every: "60ms",
            with: { sum: { start: 0, next: "loop.sum + result.body.one" } },
          },
        }),
        {
          id: "local",
          type: "set",
          values: { y: "${{ loop.y }}" },
          repeat: { max: 4, with: { y: { start: "${{ inputs.n }}", next: "result.y * 2" } } },
        },
        {
          id: "children",
          type: "workflow",
          workflow: "chain",
          inputs: { n: "${{ loop.n }}" },
          repeat: {
            until: "loop.index >= 1",
            max: 3,
            with: { n: { start: "${{ inputs.n }}", next: "result.output" } },
          },
        },
      ],
      output: "${{ [steps.calls.count, steps.local.last.y, steps.children.last.output] }}",
    },
    expectedOutput: (n) => [5, n * 8, (n * 2 + 2) * 2 + 2],
  },
  {
    name: "ask",
    definition: {
      inputs,
      steps: [
        { id: "left", type: "approval", needs: [], message: "Continue with ${{ inputs.n }}?", timeout: "1h" },
        call(url, "right", { needs: [] }),
        call(url, "then", { needs: ["left", "right"] }),
      ],
      output: "${{ steps.left.approved }}",
    },
    expectedOutput: () => true,
  },
  {
    name: COUNTING_WORKFLOW,
    definition: {
      inputs,
      state: { count: { type: "integer", default: 0 } },
      steps: [call(url, "work"), { id: "next", type: "set", values: { count: "${{ state.count + 1 }}" } }],
      output: "${{ inputs.n + steps.work.body.one }}",
      commit: { count: "${{ steps.next.count }}" },
      // One at a time, so that no commit is refused.
      concurrency: 1,
    },
    expectedOutput: (n) => n + 1,
  },
  {
    name: EVENT_WORKFLOW,
    definition: {
      inputs,
      steps: [
        call(url, "submit"),
        {
          id: "callback",
          type: "wait",
          event: { schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
          timeout: "1h",
        },
        { id: "sum", type: "set", values: { y: "${{ steps.callback.body.n + steps.submit.body.one }}" } },
      ],
      output: "${{ steps.sum.y }}",
    },
    expectedOutput: (n) => n + 1,
  },
  {
    name: "saga",
    failsWith: "assert_failed",
    definition: {
      inputs,
      steps: [
        call(url, "first", { undo: undo(url, "first") }),
        call(url, "each", { for_each: "[1, 2]", concurrency: 2, undo: undo(url, "each", "${{ index }}") }),
        { id: "gate", type: "assert", that: "inputs.n < 0", message: "Never." },
      ],
    },
    expectedOutput: () => undefined,
  },
  {
    name: SCHEDULED_WORKFLOW,
    definition: {
      inputs,
      steps: [call(url, "tock"), { id: "end", type: "set", values: { one: "${{ steps.tock.body.one }}" } }],
      output: "${{ steps.end.one }}",
      schedule: { cron: "* * * * * *", timezone: "Europe/Berlin", overlap: "skip" },
    },
    expectedOutput: () => 1,
  },
];
