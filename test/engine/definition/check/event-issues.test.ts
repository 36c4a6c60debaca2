import { describe, expect, it } from "vitest";
import type { Issue } from "../../../../schemas/problem.ts";
import { defaultChecker, issueOf, issuesOf, set } from "./test-checker.ts";

const schema = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
const wait = (more: object = {}) => ({ id: "callback", type: "wait", event: { schema }, ...more });

describe("wait with event", () => {
  it("is accepted with the URL in steps before it, and the type of its body", async () => {
    const report = await defaultChecker.check(
      {
        steps: [
          set("submit", { url: "${{ run.event_urls.callback }}" }),
          wait({ timeout: "2d" }),
          set("use", { next: "${{ steps.callback.body.id + 1 }}" }),
        ],
        output: { at: "${{ steps.callback.received_at }}", url: "${{ run.event_urls.callback }}" },
      },
      { checkConnections: true },
    );
    expect(report.errors).toEqual([]);
    expect(report.output_shape).toEqual({
      kind: "object",
      fields: { at: { kind: "string" }, url: { kind: "string" } },
    });
  });

  it.each<[string, unknown[], Partial<Issue>]>([
    [
      "an id that is misspelt",
      [set("a", { url: "${{ run.event_urls.calback }}" }), wait()],
      { path: "steps[0].values.url", code: "unknown_field", did_you_mean: "callback" },
    ],
    [
      "the URL of a step that waits for no event",
      [set("a", { url: "${{ run.event_urls.nap }}" }), wait(), { id: "nap", type: "wait", for: "1m" }],
      { path: "steps[0].values.url", code: "unknown_field", allowed: ["callback"] },
    ],
    [
      "the URL of the step itself, from a step before it",
      [set("a", { url: "${{ steps.callback.url }}" }), wait()],
      {
        path: "steps[0].values.url",
        code: "unknown_field",
        did_you_mean: "run.event_urls.callback",
        fix: expect.stringMatching(/^Write run\.event_urls\.callback\./) as string,
      },
    ],
    [
      "a field that the event lacks",
      [wait(), set("a", { x: "${{ steps.callback.body.idd }}" })],
      { path: "steps[1].values.x", code: "unknown_field", did_you_mean: "id" },
    ],
    [
      "the field of another kind of wait",
      [wait(), set("a", { x: "${{ steps.callback.waited_until }}" })],
      { path: "steps[1].values.x", code: "unknown_field" },
    ],
    ["an event beside a duration", [wait({ for: "1m" })], { path: "steps[0]", code: "invalid" }],
    [
      "a schema with an issue",
      [wait({ event: { schema: { type: "objct" } } })],
      { path: "steps[0].event.schema.type", code: "not_allowed" },
    ],
    [
      "a fan-out",
      [wait({ for_each: "[1, 2]" })],
      {
        path: "steps[0].for_each",
        code: "not_allowed",
        fix: expect.stringContaining("workflow step") as string,
      },
    ],
    ["a retry", [wait({ retry: { attempts: 2 } })], { path: "steps[0].retry", code: "not_allowed" }],
    [
      "an unknown key",
      [wait({ event: { shema: {} } })],
      { path: "steps[0].event.shema", code: "unknown_key" },
    ],
    [
      "an expression in the schema",
      [wait({ event: { schema: { type: "string", const: "${{ run.id }}" } } })],
      { path: "steps[0].event.schema.const", code: "no_expression_here" },
    ],
  ])("reports %s", async (_, steps, expected) => {
    expect(await issueOf({ steps })).toMatchObject(expected);
  });

  it("has no URL in the inputs of a schedule", async () => {
    const issues = await issuesOf({
      inputs: { type: "object", properties: { url: { type: "string" } } },
      steps: [wait()],
      schedule: { cron: "0 8 * * *", inputs: { url: "${{ run.event_urls.callback }}" } },
    });
    expect(issues).toEqual(["schedule.inputs.url unknown_field"]);
  });

  it("has a placeholder for its URL in a preview", async () => {
    const { preview } = await defaultChecker.check(
      { steps: [set("a", { url: "${{ run.event_urls.callback }}" }), wait()] },
      { checkConnections: false, inputs: {}, mocks: {} },
    );
    expect(preview?.steps["a"]).toEqual({ values: { url: "https://preview.invalid/events/callback" } });
  });
});
