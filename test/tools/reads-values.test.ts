import { describe, expect, it } from "vitest";
import { z } from "zod";
import { catalogue } from "../../tools/index.ts";

/** Operations whose answers contain arbitrary JSON that is no value of a run. */
const NO_VALUES: Readonly<Record<string, string>> = {
  allow_exposure: "the schema of a workflow's inputs",
  create_workflow: "suggested changes of the definition",
  describe_database: "rows of a database",
  describe_environment: "suggested changes, in warnings about the arguments",
  export_audit_log: "details of audit entries, which contain no values of runs",
  get_exposure: "the schema of a workflow's inputs",
  get_workflow: "steps of the definition",
  list_audit_log: "details of audit entries, which contain no values of runs",
  list_offered_workflows: "the schemas of inputs and outputs of workflows",
  publish_workflow: "suggested changes of the definition",
  update_project: "suggested changes, in warnings about the callers of drafts",
  update_workflow: "suggested changes of the definition",
  validate_workflow: "suggested changes of the definition, and what the caller's own mocks give",
  withdraw_exposure: "the schema of a workflow's inputs",
};

/** Schemas of texts that can quote values of a run. */
const QUOTING = new Set(["RunError", "Approval", "RunValue"]);

/** The paths at which an answer can contain any JSON, or a text that quotes values of a run. */
function* valuePaths(schema: unknown, path = ""): Generator<string> {
  if (typeof schema !== "object" || schema === null) return;
  if (Array.isArray(schema)) {
    for (const [index, item] of schema.entries()) yield* valuePaths(item, `${path}/${index}`);
    return;
  }
  const node = schema as Record<string, unknown>;
  const isOpen = ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "not"].every(
    (key) => !(key in node),
  );
  if (isOpen) yield path;
  for (const key of ["anyOf", "oneOf", "allOf", "prefixItems"])
    yield* valuePaths(node[key] ?? [], `${path}/${key}`);
  for (const key of ["items", "additionalProperties"])
    if (typeof node[key] === "object") yield* valuePaths(node[key], `${path}/${key}`);
  for (const key of ["properties", "$defs"])
    for (const [name, inner] of Object.entries(node[key] ?? {})) {
      if (key === "$defs" && QUOTING.has(name)) yield name;
      yield* valuePaths(inner, `${path}/${name}`);
    }
}

const pathsOf = (tool: (typeof catalogue)[number]): string[] => [
  ...valuePaths(z.toJSONSchema(tool.output as z.ZodType, { io: "output", unrepresentable: "any" })),
];

describe("operations that return values of runs", () => {
  it("declare it, so that their answers can be recorded", () => {
    const found = catalogue
      .filter((tool) => pathsOf(tool).length > 0 && !(tool.name in NO_VALUES))
      .map(({ name }) => name);
    expect(catalogue.filter(({ readsValues }) => readsValues).map(({ name }) => name)).toEqual(found);
  });
});
