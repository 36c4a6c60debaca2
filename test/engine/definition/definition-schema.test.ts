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

/** Every named field of a schema, with what is said of it. */
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

describe("the definition's JSON Schema", () => {
  it("is strictly valid, and takes the example of the guide", () => {
    expect(fits(example)).toBe(true);
    expect(fits({ id: "revenue", name: "Revenue", description: "By region.", tags: ["a"], ...example })).toBe(
      true,
    );
  });

  it("takes every step type's own example", () => {
    const refused = stepTypes.filter(({ example: step }) => !fits({ steps: [step] }));
    expect(refused.map(({ type }) => type)).toEqual([]);
  });

  it.each([
    ["an unknown key", { steps: [{ id: "a", type: "set", valuess: {} }] }],
    ["an unknown type", { steps: [{ id: "a", type: "sett" }] }],
    ["no steps", {}],
    ["a wrong kind", { steps: [{ id: "a", type: "approval", message: 5 }] }],
  ])("refuses %s", (_, definition) => {
    expect(fits(definition)).toBe(false);
  });

  it("describes every field, with an example", () => {
    const defs = jsonSchema["$defs"] as Record<string, Node>;
    const said = ({ node }: { node: Node }): Node => ({
      ...defs[String(node["$ref"]).replace("#/$defs/", "")],
      ...node,
    });
    const bare = fields(jsonSchema, "").filter(
      (field) => said(field)["description"] === undefined || said(field)["examples"] === undefined,
    );
    expect(bare.map(({ at }) => at)).toEqual([]);
  });
});

const approval = (assignees: unknown) => ({
  steps: [{ id: "a", type: "approval", message: "?", assignees }],
});

describe("the definition's schema", () => {
  const schema = definitionSchema(stepTypes);
  const issues = (value: unknown) => {
    const parsed = schema.safeParse(value, { reportInput: true });
    return parsed.success ? [] : issuesOf(parsed.error, schema);
  };

  it("takes what the JSON Schema takes", () => {
    expect(issues(example)).toEqual([]);
    for (const { example: step } of stepTypes) expect(issues({ steps: [step] })).toEqual([]);
  });

  it("names the keys of the step's own type where one is unknown", () => {
    const [issue] = issues({ steps: [{ id: "a", type: "wait", untill: "x" }] });
    expect(issue).toMatchObject({ path: "steps[0].untill", did_you_mean: "until" });
    expect(issue!.allowed).toContain("for");
    expect(issue!.allowed).not.toContain("values");
  });

  it("takes an expression for any value, and says of another what it must be", () => {
    expect(issues(approval("${{ inputs.who }}"))).toEqual([]);
    expect(issues(approval(["${{ inputs.who }}"]))).toEqual([]);
    expect(issues(approval(["nobody"]))).toMatchObject([
      { path: "steps[0].assignees[0]", message: "must be a mail address" },
    ]);
    expect(issues(approval(5))).toMatchObject([
      { path: "steps[0].assignees", message: "must be a list, got a number" },
    ]);
  });
});
