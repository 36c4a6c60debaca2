import { describe, expect, it } from "vitest";
import { checkerOf, issuesOf, set } from "./test-checker.ts";

const steps = [set("a", { total: "${{ inputs.n }}", name: "x" })];
const inputs = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const object = (properties: object, required: string[] = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
});

const issues = (output_schema: unknown, more: object = { output: { total: "${{ steps.a.total }}" } }) =>
  issuesOf({ inputs, steps, output_schema, ...more });

describe("output_schema", () => {
  it("is checked against the output, by value where it is known", async () => {
    expect(await issues(object({ total: { type: "number" } }))).toEqual([]);
    expect(await issues(object({ total: { type: "string" } }))).toEqual(["output.total wrong_type"]);
    expect(await issues(object({ total: { type: "number" }, region: { type: "string" } }))).toEqual([
      "output.region missing",
    ]);
    expect(
      await issues(
        { ...object({ total: { type: "number" } }), additionalProperties: false },
        {
          output: { total: "${{ steps.a.total }}", more: "text" },
        },
      ),
    ).toEqual(["output.more unknown_key"]);
    expect(await issues({ enum: ["a", "b"] }, { output: "c" })).toEqual(["output not_allowed"]);
  });

  it("is checked against the output of the last step", async () => {
    expect(await issues(object({ total: { type: "number" } }), {})).toEqual([]);
    expect(await issues(object({ total: { type: "boolean" } }), {})).toEqual(["output_schema wrong_type"]);
  });

  it("warns of what may be null, unless null is accepted or leaves the field out", async () => {
    const skipped = [{ ...set("a", { total: 1 }), if: "inputs.n > 3" }];
    const warnings = async (schema: object) => {
      const output = { total: "${{ steps.a.total }}" };
      const definition = { inputs, steps: skipped, output, output_schema: schema };
      const report = await checkerOf().check(definition, { checkConnections: true });
      expect(report.errors).toEqual([]);
      return report.warnings.map(({ path, code }) => `${path} ${code}`);
    };
    expect(await warnings(object({ total: { type: "number" } }))).toEqual(["output.total maybe_null"]);
    expect(await warnings(object({ total: { type: ["number", "null"] } }))).toEqual([]);
    expect(await warnings(object({ total: { type: "number" } }, []))).toEqual([]);
  });

  it("must be a schema, without expressions", async () => {
    expect(await issues({ type: "text" })).toEqual(["output_schema.type not_allowed"]);
    expect(await issues("x")).toEqual(["output_schema wrong_type"]);
    expect(await issues(object({ n: { const: "${{ 1 }}" } }), { output: { n: 1 } })).toContain(
      "output_schema.properties.n.const no_expression_here",
    );
  });

  it("is the output that callers see", async () => {
    const definition = {
      inputs,
      steps,
      output: { total: "${{ steps.a.total }}", name: "${{ steps.a.name }}" },
      output_schema: object({ total: { type: "number" } }),
    };
    const report = await checkerOf().check(definition, { checkConnections: true });
    expect(report).toMatchObject({
      valid: true,
      output_shape: { kind: "object", fields: { total: { kind: "number" } } },
    });
    expect(Object.keys((report.output_shape as { fields: object }).fields)).toEqual(["total"]);
  });
});
