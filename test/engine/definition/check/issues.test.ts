import { describe, expect, it } from "vitest";
import { Issue } from "../../../../schemas/problem.ts";
import { assert, issueOf, issuesOf, set, defaultChecker } from "./test-checker.ts";

const inputs = {
  type: "object",
  properties: { since: { type: "string" }, n: { type: "number" } },
  required: ["since", "n"],
};
const rows = "${{ [{'region': 'north', 'total': 2}] }}";

describe("the checker", () => {
  it("accepts a valid definition", async () => {
    const definition = {
      inputs,
      steps: [
        set("revenue", { rows }),
        assert("any", "steps.revenue.rows.size() > 0", { message: "None since ${{ inputs.since }}." }),
        set("each", { double: "${{ item.total * 2 }}" }, { for_each: "steps.revenue.rows", concurrency: 2 }),
      ],
      output: { first: "${{ steps.each.items[0].double }}" },
      schedule: {
        cron: "0 8 * * MON",
        timezone: "Europe/Berlin",
        inputs: { since: "${{ run.scheduled_for }}", n: 1 },
      },
      examples: [{ inputs: { since: "2026-01-01", n: 1 } }],
      on_failure: "tell-the-team",
    };
    const report = await defaultChecker.check(definition, { checkConnections: true });
    expect(report.errors).toEqual([]);
    expect(report).toMatchObject({
      valid: true,
      definition,
      parsed: { schedule: { overlap: "skip" } },
      output_shape: { kind: "object", fields: { first: { kind: "number" } } },
      steps: [{ id: "revenue", type: "set", effects: false }, { id: "any" }, { id: "each" }],
    });
    expect(report.definition).not.toHaveProperty("schedule.overlap");
  });

  it.each<[string, unknown, Partial<Issue>]>([
    ["no object", [], { path: "", code: "wrong_type" }],
    ["no steps", {}, { path: "steps", code: "missing" }],
    ["an empty list of steps", { steps: [] }, { path: "steps", code: "too_short" }],
    ["a step that is none", { steps: [5] }, { path: "steps[0]", code: "wrong_type" }],
    [
      "an unknown key at the top",
      { steps: [set("a", {})], shedule: { cron: "0 8 * * *" } },
      { path: "shedule", did_you_mean: "schedule" },
    ],
    [
      "a file's key outside of files",
      { id: "a", steps: [set("a", {})] },
      { path: "id", code: "unknown_key" },
    ],
    [
      "an unknown type",
      { steps: [{ id: "a", type: "sett", values: {} }] },
      { path: "steps[0].type", did_you_mean: "set" },
    ],
    [
      "a missing type",
      { steps: [{ id: "a" }] },
      { code: "missing", allowed: ["approval", "assert", "set", "wait"] },
    ],
    [
      "an unknown key of a step",
      { steps: [set("a", {}, { retries: { attempts: 2 } })] },
      { path: "steps[0].retries", code: "unknown_key", allowed: expect.arrayContaining(["values", "retry"]) },
    ],
    [
      "an unknown key inside one",
      { steps: [set("a", {}, { retry: { attempts: 2, maxx: "1s" } })] },
      { did_you_mean: "max" },
    ],
    [
      "an unknown error code",
      { steps: [set("a", {}, { retry: { attempts: 2, on: ["timeot"] } })] },
      { path: "steps[0].retry.on[0]", did_you_mean: "timeout" },
    ],
    ["a bad id", { steps: [set("A", {})] }, { path: "steps[0].id", code: "wrong_format" }],
    [
      "two steps with one id",
      { steps: [set("a", {}), set("a", {})] },
      { path: "steps[1].id", code: "duplicate" },
    ],
    [
      "an unknown step in needs",
      { steps: [set("first", {}), set("b", {}, { needs: ["frist"] })] },
      { path: "steps[1].needs[0]", did_you_mean: "first" },
    ],
    [
      "a cycle",
      { steps: [set("a", {}, { needs: ["c"] }), set("b", {}), set("c", {})] },
      { code: "cycle", message: "must not wait for itself: a → c → b → a" },
    ],
    [
      "a step that needs itself",
      { steps: [set("a", {}, { needs: ["a"] })] },
      { path: "steps[0].needs", code: "cycle" },
    ],
    [
      "an expression in an id",
      { steps: [set("${{ 1 }}", {})] },
      { path: "steps[0].id", code: "no_expression_here" },
    ],
    [
      "an expression in a duration",
      { steps: [{ id: "a", type: "wait", for: "${{ 1 }}" }] },
      { path: "steps[0].for", code: "no_expression_here" },
    ],
    [
      "an expression in a number",
      { steps: [set("a", {}, { for_each: "[1]", concurrency: "${{ 1 }}" })] },
      { path: "steps[0].concurrency", code: "no_expression_here" },
    ],
    [
      "an expression in a default",
      { inputs: { type: "object", properties: { a: { default: "${{ 1 }}" } } }, steps: [set("a", {})] },
      { path: "inputs.properties.a.default", code: "no_expression_here" },
    ],
    ["broken syntax", { steps: [assert("a", "1 +")] }, { path: "steps[0].that" }],
    [
      "an unknown name",
      { steps: [assert("a", "input.x == 1")] },
      { path: "steps[0].that", code: "unknown_name", did_you_mean: "inputs" },
    ],
    [
      "an unknown input",
      { inputs, steps: [set("a", { x: ["${{ inputs.sinc }}"] })] },
      { path: "steps[0].values.x[0]", code: "unknown_field", did_you_mean: "since" },
    ],
    [
      "an unknown step",
      { steps: [set("first", {}), assert("b", "steps.frist.x == 1")] },
      { code: "unknown_step", did_you_mean: "first" },
    ],
    [
      "an unknown field of a step",
      { steps: [set("a", { region: 1 }), assert("b", "steps.a.regoin == 1")] },
      { code: "unknown_field", did_you_mean: "region" },
    ],
    [
      "a step that comes later",
      { steps: [assert("a", "steps.b.x == 1"), set("b", { x: 1 })] },
      { path: "steps[0].that", code: "not_an_ancestor" },
    ],
    [
      "a step that runs in parallel",
      { steps: [set("a", { x: 1 }), assert("b", "steps.a.x == 1", { needs: [] })] },
      {
        code: "not_an_ancestor",
        fix: "Write needs: [a].",
        patch: [{ op: "replace", path: "/steps/1/needs", value: ["a"] }],
      },
    ],
    [
      "an unknown field in output",
      { steps: [set("a", { x: 1 })], output: "${{ steps.a.y }}" },
      { path: "output", code: "unknown_field" },
    ],
    [
      "a for_each that is not a list",
      { steps: [set("a", {}, { for_each: "5" })] },
      { path: "steps[0].for_each", code: "wrong_type" },
    ],
    [
      "an if that is not a condition",
      { steps: [set("a", {}, { if: "'yes'" })] },
      { path: "steps[0].if", code: "wrong_type" },
    ],
    [
      "a that which is not a condition",
      { steps: [assert("a", "1 + 1")] },
      { path: "steps[0].that", code: "wrong_type" },
    ],
    [
      "an item outside of a fan-out",
      { steps: [assert("a", "item == 1")] },
      { path: "steps[0].that", code: "unknown_name" },
    ],
    [
      "an item in an if",
      { steps: [set("a", {}, { for_each: "[1]", if: "item == 1" })] },
      { path: "steps[0].if", code: "unknown_name" },
    ],
    [
      "concurrency without a fan-out",
      { steps: [set("a", {}, { concurrency: 2 })] },
      { path: "steps[0].concurrency", code: "not_allowed" },
    ],
    [
      "a rate of a step that calls nothing",
      { steps: [set("a", {}, { rate: "5/s" })] },
      { path: "steps[0].rate", code: "not_allowed" },
    ],
    [
      "a rate without a unit",
      { steps: [{ id: "a", type: "approval", message: "?", rate: "5" }] },
      { path: "steps[0].rate", message: "must be a rate such as 5/s, 100/m, 1000/h or 500/d" },
    ],
    [
      "a cached approval",
      { steps: [{ id: "a", type: "approval", message: "?", cache: "1h" }] },
      { path: "steps[0].cache", code: "not_allowed" },
    ],
    [
      "a number in place of a string",
      { inputs, steps: [assert("a", "true", { message: "${{ inputs.n }}" })] },
      { path: "steps[0].message", code: "wrong_type" },
    ],
    [
      "a string in place of a number",
      { inputs, steps: [{ id: "a", type: "approval", message: "?", required: "${{ inputs.since }}" }] },
      { path: "steps[0].required", code: "wrong_type" },
    ],
    ["what a step type finds", { steps: [{ id: "a", type: "wait" }] }, { path: "steps[0]", code: "invalid" }],
    [
      "an invalid schema of a form",
      { steps: [{ id: "a", type: "approval", message: "?", form: { type: "object", propertis: {} } }] },
      { path: "steps[0].form.propertis", did_you_mean: "properties" },
    ],
    [
      "inputs of another type",
      { inputs: { type: "array" }, steps: [set("a", {})] },
      { path: "inputs.type", code: "not_allowed" },
    ],
    [
      "an input default that does not match",
      {
        inputs: { type: "object", properties: { n: { type: "number", default: "1" } } },
        steps: [set("a", {})],
      },
      { path: "inputs.properties.n.default", code: "wrong_type" },
    ],
    [
      "an example that does not match the inputs",
      { inputs, steps: [set("a", {})], examples: [{ inputs: { since: "x", n: "1" } }] },
      { path: "examples[0].inputs.n", code: "wrong_type" },
    ],
    [
      "a schedule without a required input",
      { inputs, steps: [set("a", {})], schedule: { cron: "* * * * *", inputs: { since: "x" } } },
      { path: "schedule.inputs.n", code: "missing" },
    ],
    [
      "a scheduled input of the wrong type",
      {
        inputs,
        steps: [set("a", {})],
        schedule: { cron: "* * * * *", inputs: { since: "x", n: "${{ run.scheduled_for }}" } },
      },
      { path: "schedule.inputs.n", code: "wrong_type" },
    ],
    [
      "a scheduled input that reads inputs",
      {
        inputs,
        steps: [set("a", {})],
        schedule: { cron: "* * * * *", inputs: { since: "${{ inputs.since }}", n: 1 } },
      },
      { path: "schedule.inputs.since", code: "unknown_field" },
    ],
    [
      "an invalid cron expression",
      { steps: [set("a", {})], schedule: { cron: "0 8 * * MOO" } },
      { path: "schedule.cron", code: "wrong_format" },
    ],
    [
      "a cron expression that matches no date",
      { steps: [set("a", {})], schedule: { cron: "0 0 30 2 *" } },
      { path: "schedule.cron", code: "not_allowed" },
    ],
    [
      "an unknown time zone",
      { steps: [set("a", {})], schedule: { cron: "* * * * *", timezone: "Europe/Berln" } },
      { path: "schedule.timezone", did_you_mean: "Europe/Berlin" },
    ],
    [
      "an unknown workflow on failure",
      { steps: [set("a", {})], on_failure: "tell-team" },
      { path: "on_failure", code: "unknown_workflow" },
    ],
    [
      "a wrong timeout",
      { steps: [set("a", {})], timeout: "1 hour" },
      { path: "timeout", code: "wrong_format" },
    ],
    [
      "a key named __proto__",
      JSON.parse('{"steps": [{"id": "a", "type": "set", "values": {"__proto__": {}}}]}'),
      { path: "steps[0].values.__proto__", code: "not_allowed" },
    ],
    [
      "a number that JSON can't represent",
      { steps: [set("a", { x: Infinity })] },
      { path: "steps[0].values.x", code: "not_finite" },
    ],
  ])("reports %s", async (_, definition, expected) => {
    const issue = await issueOf(definition);
    expect(Issue.parse(issue)).toMatchObject(expected);
  });

  it("rejects a workflow that runs itself on failure", async () => {
    const definition = { steps: [set("a", {})], on_failure: "me" };
    expect(await issuesOf(definition, { selfId: "me" })).toEqual(["on_failure not_allowed"]);
  });

  it("reports all issues at once, in the order of the document", async () => {
    const definition = {
      on_failure: "nobody",
      steps: [
        assert("a", "inputs.x"),
        { id: "b", type: "sett", values: {} },
        set("c", { x: "${{ steps.d.x }}" }, { chache: "1s" }),
        set("d", {}),
      ],
      output: "${{ steps.e.x }}",
      timeout: "soon",
    };
    expect(await issuesOf(definition)).toEqual([
      "on_failure unknown_workflow",
      "steps[0].that unknown_field",
      "steps[1].type not_allowed",
      "steps[2].values.x not_an_ancestor",
      "steps[2].chache unknown_key",
      "output unknown_step",
      "timeout wrong_format",
    ]);
  });

  it("reports at most 100 issues", async () => {
    const steps = Array.from({ length: 300 }, (_, index) => set(`a${index}`, { x: "${{ nothing }}" }));
    expect(await issuesOf({ steps })).toHaveLength(100);
  });

  it("does not report an issue that follows from another one", async () => {
    const first = { id: "a", type: "set", valuess: { x: 1 } };
    const steps = [
      first,
      assert("b", "steps.a.x == 1"),
      set("c", {}, { needs: ["bb"] }),
      assert("d", "steps.b.ok"),
    ];
    expect(await issuesOf({ steps })).toEqual([
      "steps[0].valuess unknown_key",
      "steps[2].needs[0] unknown_step",
    ]);
  });
});
