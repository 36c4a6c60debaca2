import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { type AnyTool, defineTool, toolAnnotations, parseRoute, isServedOn } from "../../src/core/tool.ts";

const base = {
  name: "read_thing",
  title: "Read a thing",
  description: "Reads it.",
  scope: "read",
  effect: "read",
  errors: [],
  output: z.object({ id: z.string() }),
} as const;
const run = async () => ({ id: "a" });

// `npm run types` runs these checks: it fails when a line after @ts-expect-error compiles.
describe("defineTool", () => {
  it("derives the types of a tool from its schemas", () => {
    const tool = defineTool({
      ...base,
      route: "GET /things/:thing_id",
      input: z.object({ thing_id: z.string(), size: z.string().transform(Number) }),
      async run({ thing_id, size }) {
        expectTypeOf(thing_id).toEqualTypeOf<string>();
        expectTypeOf(size).toEqualTypeOf<number>();
        return { id: thing_id };
      },
    });
    expectTypeOf(tool).toExtend<AnyTool>();
    expect(tool.route).toBe("GET /things/:thing_id");
  });

  it("does not compile without a route parameter in the input", () => {
    const input = z.object({ thing_id: z.string() });
    defineTool({ ...base, route: "GET /things/:thing_id", input, run });
    // @ts-expect-error -- the input has no `id`
    defineTool({ ...base, route: "GET /things/:id", input, run });
    // @ts-expect-error -- the input has the first parameter and not the last
    defineTool({ ...base, route: "GET /things/:thing_id/parts/:part_id", input, run });
    // @ts-expect-error -- the input has the last parameter and not the first
    defineTool({ ...base, route: "GET /shelves/:shelf_id/things/:thing_id", input, run });
    // @ts-expect-error -- a parameter in the middle counts too
    defineTool({ ...base, route: "POST /things/:id/restore", input, run });
    expect(input).toBeDefined();
  });

  it("does not compile with a route of another form, an unknown error, a header without its field, a wrong output", () => {
    const input = z.object({ if_match: z.int().optional() });
    defineTool({ ...base, route: "GET /things", headers: { if_match: "If-Match" }, input, run });
    // @ts-expect-error -- there is no such method
    defineTool({ ...base, route: "FETCH /things", input, run });
    // @ts-expect-error -- it is not a path
    defineTool({ ...base, route: "GET things", input, run });
    // @ts-expect-error -- it is not in the error table
    defineTool({ ...base, route: "GET /things", errors: ["thing_not_found"], input, run });
    // @ts-expect-error -- the input has no such field
    defineTool({ ...base, route: "GET /things", headers: { version: "If-Match" }, input, run });
    // @ts-expect-error -- the output schema does not accept it
    defineTool({ ...base, route: "GET /things", input, run: async () => ({ id: 7 }) });
    expect(input).toBeDefined();
  });

  it("does not compile for an operation that writes without an entry in RECORDED_OPERATIONS", () => {
    const input = z.object({});
    const recorded = { ...base, effect: "act", route: "POST /things", input, run } as const;
    defineTool({ ...recorded, name: "rotate_trigger" });
    // @ts-expect-error -- the report of a key's changes would not know what to say of it
    defineTool({ ...recorded, name: "paint_things" });
    expect(input).toBeDefined();
  });
});

describe("parseRoute", () => {
  it.each([
    ["GET /workflows", "GET", "/workflows", []],
    ["POST /workflows/:workflow_id/restore", "POST", "/workflows/:workflow_id/restore", ["workflow_id"]],
    ["GET /a/:b/c/:d", "GET", "/a/:b/c/:d", ["b", "d"]],
  ] as const)("splits %s", (route, method, path, parameters) => {
    expect(parseRoute({ route })).toEqual({ method, path, parameters });
  });
});

describe("toolAnnotations", () => {
  it.each([
    ["read", { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
    ["create", { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
    ["update", { readOnlyHint: false, destructiveHint: false, idempotentHint: true }],
    ["delete", { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
    ["act", { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
  ] as const)("describes the effect %s", (effect, hints) => {
    expect(toolAnnotations({ effect, title: "T" })).toEqual({ title: "T", openWorldHint: false, ...hints });
    expect(toolAnnotations({ effect, title: "T", openWorld: true })).toMatchObject({ openWorldHint: true });
  });
});

describe("isServedOn", () => {
  const tool = { ...base, route: "GET /things", input: z.object({}), run } as AnyTool;

  it("is true for both surfaces when the tool names none", () => {
    expect([isServedOn(tool, "rest"), isServedOn(tool, "mcp")]).toEqual([true, true]);
  });

  it("is true only for the surfaces that the tool names", () => {
    expect(isServedOn({ ...tool, surfaces: ["rest"] }, "mcp")).toBe(false);
    expect(isServedOn({ ...tool, surfaces: ["rest"] }, "rest")).toBe(true);
  });
});
