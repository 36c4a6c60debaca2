import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { FormatsPlugin } from "ajv-formats";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { issuesOf } from "../../../src/core/issues.ts";
import { definitionJsonSchema, definitionSchema } from "../../../src/engine/definition/definition-schema.ts";
import { stepTypes } from "../../../src/steps/index.ts";

const example = parse(readFileSync(new URL("./revenue.yaml", import.meta.url), "utf8")) as {
  steps: { type: string }[];
};

const jsonSchema = definitionJsonSchema(stepTypes);
const ajv = new Ajv2020({
  strict: true,
  allErrors: true,
  allowUnionTypes: true,
  strictTypes: "log",
  logger: {
    log: () => undefined,
    warn: (message: string) => {
      throw new Error(message);
    },
    error: (message: string) => {
      throw new Error(message);
    },
  },
});
(createRequire(import.meta.url)("ajv-formats") as FormatsPlugin)(ajv);
const fits = ajv.compile(jsonSchema);

type Node = Record<string, unknown>;

/** Lists every named field of a schema with its metadata. */
function fields(node: unknown, at: string): { at: string; node: Node }[] {
  if (typeof node !== "object" || node === null) return [];
  const own = Object.entries(((node as Node)["properties"] ?? {}) as Node).map(([name, inner]) => ({
    at: `${at}.${name}`,
    node: inner as Node,
  }));
  const inside = Object.entries(node).flatMap(([key, inner]) =>
    key === "examples" || key === "default" ? [] : fields(inner, `${at}/${key}`),
  );
  return [...own, ...inside];
}

describe("the JSON Schema of definitions", () => {
  it("is strictly valid and accepts the example of the guide", () => {
    expect(fits(example)).toBe(true);
    expect(fits({ id: "revenue", name: "Revenue", description: "By region.", tags: ["a"], ...example })).toBe(
      true,
    );
  });

  it("accepts the example of every step type", () => {
    const refused = stepTypes.filter(({ example: step }) => !fits({ steps: [step] }));
    expect(refused.map(({ type }) => type)).toEqual([]);
  });

  it.each([
    ["an unknown key", { steps: [{ id: "a", type: "set", valuess: {} }] }],
    ["an unknown type", { steps: [{ id: "a", type: "sett" }] }],
    ["no steps", {}],
    ["a wrong kind", { steps: [{ id: "a", type: "approval", message: 5 }] }],
  ])("rejects %s", (_, definition) => {
    expect(fits(definition)).toBe(false);
  });

  it("describes every field, with an example", () => {
    const defs = jsonSchema["$defs"] as Record<string, Node>;
    const described = ({ node }: { node: Node }): Node => ({
      ...defs[String(node["$ref"]).replace("#/$defs/", "")],
      ...node,
    });
    const bare = fields(jsonSchema, "").filter(
      (field) => described(field)["description"] === undefined || described(field)["examples"] === undefined,
    );
    expect(bare.map(({ at }) => at)).toEqual([]);
  });
});

const approval = (assignees: unknown) => ({
  steps: [{ id: "a", type: "approval", message: "?", assignees }],
});

describe("the schema of definitions", () => {
  const schema = definitionSchema(stepTypes);
  const issues = (value: unknown) => {
    const parsed = schema.safeParse(value, { reportInput: true });
    return parsed.success ? [] : issuesOf(parsed.error, schema);
  };

  it("accepts what the JSON Schema accepts", () => {
    expect(issues(example)).toEqual([]);
    for (const { example: step } of stepTypes) expect(issues({ steps: [step] })).toEqual([]);
  });

  it("lists the keys of the step type when one is unknown", () => {
    const [issue] = issues({ steps: [{ id: "a", type: "wait", untill: "x" }] });
    expect(issue).toMatchObject({ path: "steps[0].untill", did_you_mean: "until" });
    expect(issue!.allowed).toContain("for");
    expect(issue!.allowed).not.toContain("values");
  });

  it("accepts an expression for any value, and names the expected type of others", () => {
    expect(issues(approval("${{ inputs.who }}"))).toEqual([]);
    expect(issues(approval(["${{ inputs.who }}"]))).toEqual([]);
    // The checker knows the roles.
    expect(issues(approval(["nobody"]))).toEqual([]);
    expect(issues(approval([5]))).toMatchObject([{ path: "steps[0].assignees[0]" }]);
    expect(issues(approval(5))).toMatchObject([
      { path: "steps[0].assignees", message: "must be text or a list, got a number" },
    ]);
  });
});
