import { describe, expect, it } from "vitest";
import type { WorkflowStatus } from "../../../../schemas/workflow.ts";
import { workflowStep } from "../../../../src/steps/workflow.ts";
import { assert, checkerOf, set } from "./test-checker.ts";

type Definition = Record<string, unknown>;

const run = (workflow: string, more: object = {}) => ({ id: "sub", type: "workflow", workflow, ...more });

/** Checks a definition as that of the workflow `self`, beside stored ones. */
async function check(
  definition: Definition,
  stored: Record<string, Definition | null | [WorkflowStatus, Definition]> = {},
  options: { asPublished?: ReadonlyMap<string, Definition> } = {},
) {
  const workflows = {
    find: (id: string) => {
      const entry = stored[id];
      if (entry === undefined) return Promise.resolve(undefined);
      const [status, found] = Array.isArray(entry) ? entry : (["published", entry] as const);
      return Promise.resolve({ status, definition: found });
    },
    ids: () => Promise.resolve(Object.keys(stored)),
  };
  return checkerOf({ workflows }, workflowStep).check(definition, {
    checkConnections: true,
    selfId: "self",
    ...options,
  });
}

const issues = async (...request: Parameters<typeof check>) =>
  (await check(...request)).errors.map(({ path, code }) => `${path} ${code}`);

const child = {
  inputs: {
    type: "object",
    properties: { week: { type: "string", format: "date" }, by: { enum: ["day", "region"] } },
    required: ["week"],
  },
  steps: [set("c", { total: 3 })],
};

/** A workflow that passes all of its inputs on. */
const passOn = (properties: object) => ({
  inputs: { type: "object", properties, required: Object.keys(properties) },
  steps: [run("child", { inputs: "${{ inputs }}" })],
});

const scheduled = (properties: object, inputs: object) =>
  issues({
    inputs: { type: "object", properties, required: Object.keys(properties) },
    steps: [set("a", {})],
    schedule: { cron: "0 8 * * MON", inputs },
  });

describe("a workflow step", () => {
  it("is checked against the inputs of its workflow, by value where it is known", async () => {
    const inputs = { week: "soon", by: "${{ 'x' + 'y' }}", bye: 1 };
    expect(await issues({ steps: [run("child", { inputs })] }, { child })).toEqual([
      "steps[0].inputs.week wrong_format",
      "steps[0].inputs.bye unknown_key",
    ]);
  });

  it("can pass its own inputs on", async () => {
    expect(await issues(passOn({ week: { type: "string" } }), { child })).toEqual([]);
    expect(await issues(passOn({ by: { type: "number" } }), { child })).toEqual([
      "steps[0].inputs.week missing",
      "steps[0].inputs.by wrong_type",
    ]);
  });

  it("needs a workflow that can run", async () => {
    const steps = [run("child")];
    expect(await issues({ steps }, { child: ["archived", { steps: [set("a", {})] }] })).toEqual([
      "steps[0].workflow workflow_archived",
    ]);
    expect(await issues({ steps }, { child: null })).toEqual(["steps[0].workflow workflow_not_runnable"]);
    const faulty = { steps: [assert("a", "steps.nope.x")] };
    const { errors } = await check({ steps }, { child: faulty });
    expect(errors).toMatchObject([
      {
        path: "steps[0].workflow",
        code: "workflow_not_runnable",
        message: expect.stringContaining("child has an issue: steps[0].that "),
        fix: expect.stringContaining("Fix child first"),
      },
    ]);
    expect(await issues({ steps }, { child: { steps: [run("grandchild")] }, grandchild: faulty })).toEqual([
      "steps[0].workflow workflow_not_runnable",
    ]);
    expect(await issues({ steps }, { child: ["draft", { steps: [set("a", {})] }] })).toEqual([]);
  });

  it("has the output of its workflow, also through several levels", async () => {
    const stored = {
      child: { steps: [run("grandchild")], output: { sum: "${{ steps.sub.output.total }}" } },
      grandchild: { steps: [set("c", { total: 3 })] },
    };
    const steps = [run("child"), assert("a", "steps.sub.output.sum == 'x' && steps.sub.output.som > 0")];
    expect(await issues({ steps }, stored)).toContain("steps[1].that unknown_field");
  });
});

describe("recursion", () => {
  it("is an issue when every run starts the same workflow again", async () => {
    const { errors } = await check({ steps: [set("a", {}), run("self")] });
    expect(errors).toMatchObject([
      {
        path: "steps[1].workflow",
        code: "endless_recursion",
        message: expect.stringContaining("self → self"),
      },
    ]);
    const stored = { b: { steps: [run("c")] }, c: { steps: [run("self")] }, self: { steps: [set("a", {})] } };
    const through = await check({ steps: [run("b")] }, stored);
    expect(through.errors).toMatchObject([
      { path: "steps[0].workflow", message: expect.stringContaining("self → b → c → self") },
    ]);
    expect(through.errors).toHaveLength(1);
  });

  it("is allowed where a condition, an empty list or on_error ends it", async () => {
    const guarded = { if: "inputs.n > 0" };
    const inputs = { type: "object", properties: { n: { type: "number", default: 1 } } };
    for (const more of [guarded, { for_each: "[inputs.n].filter(n, n > 0)" }, { on_error: "continue" }])
      expect(await issues({ inputs, steps: [run("self", more)] })).toEqual([]);
    const stored = { b: { steps: [run("self")] } };
    expect(await issues({ inputs, steps: [run("b", guarded)] }, stored)).toEqual([]);
  });

  it("is checked against the definition at hand, not the stored one", async () => {
    const inputs = { type: "object", properties: { depth: { type: "integer" } }, required: ["depth"] };
    const steps = [run("self", { if: "inputs.depth > 0", inputs: { depth: "${{ inputs.depth - 1 }}" } })];
    const stored = { self: { inputs: { type: "object", properties: {} }, steps: [set("a", {})] } };
    expect(await issues({ inputs, steps }, stored)).toEqual([]);
    expect(await issues({ steps: [run("self")] }, stored)).toEqual(["steps[0].workflow endless_recursion"]);
    const endless = { self: { steps: [run("self")] } };
    expect(await issues({ steps: [set("a", {})] }, endless)).toEqual([]);
  });
});

describe("on_failure", () => {
  const steps = [set("a", {})];
  const handler = (properties: object, required: string[] = Object.keys(properties)) => ({
    inputs: { type: "object", properties, required },
    steps,
  });
  const of = (definition: Definition) => issues({ steps, on_failure: "tell" }, { tell: definition });

  it("is checked against the inputs that a handler gets", async () => {
    const error = { type: "object", properties: { code: { type: "string" } }, required: ["code"] };
    expect(await of(handler({ run_id: { type: "string" }, error }))).toEqual([]);
    expect(await of(handler({ team: { type: "string" } }))).toEqual(["on_failure unfit_inputs"]);
    expect(await of(handler({ team: { type: "string", default: "ops" } }))).toEqual([]);
    expect(await of(handler({ error: { type: "string" } }))).toEqual(["on_failure unfit_inputs"]);
    expect(await of(handler({ run_id: { type: "integer" } }, []))).toEqual(["on_failure unfit_inputs"]);
  });

  it("needs a workflow that can run", async () => {
    expect(await of({ steps: [assert("a", "nope.x")] })).toEqual(["on_failure workflow_not_runnable"]);
    expect(await issues({ steps, on_failure: "tell" }, { tell: ["archived", { steps }] })).toEqual([
      "on_failure workflow_archived",
    ]);
  });
});

describe("the inputs of a schedule", () => {
  it("are checked by value, the scheduled time included", async () => {
    const time = { type: "string", format: "date-time" };
    expect(await scheduled({ at: time }, { at: "${{ run.scheduled_for }}" })).toEqual([]);
    expect(
      await scheduled({ at: { type: "string", format: "date" } }, { at: "${{ run.scheduled_for }}" }),
    ).toEqual(["schedule.inputs.at wrong_format"]);
    const filter = {
      type: "object",
      properties: { since: time, by: { enum: ["day"] } },
      required: ["since", "by"],
    };
    const nested = { filter: { since: "${{ run.scheduled_for }}", by: "week" } };
    expect(await scheduled({ filter }, nested)).toEqual(["schedule.inputs.filter.by not_allowed"]);
    expect(await scheduled({ filter }, { filter: { since: "${{ run.scheduled_at }}" } })).toEqual([
      "schedule.inputs.filter.by missing",
      "schedule.inputs.filter.since unknown_field",
    ]);
    expect(
      await scheduled({ days: { type: "array", items: { type: "integer" } } }, { days: [1, "x"] }),
    ).toEqual(["schedule.inputs.days[1] wrong_type"]);
  });
});

it("definitions can stand for published versions", async () => {
  const asPublished = new Map([["child", { ...child, inputs: { ...child.inputs, required: [] } }]]);
  expect(await issues({ steps: [run("child")] }, { child })).toEqual(["steps[0].inputs.week missing"]);
  expect(await issues({ steps: [run("child")] }, { child }, { asPublished })).toEqual([]);
});
