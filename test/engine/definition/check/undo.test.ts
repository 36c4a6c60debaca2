import { describe, expect, it } from "vitest";
import { httpStep } from "../../../../src/steps/http.ts";
import { checkerOf, set } from "./test-checker.ts";

const post = (more: object = {}) => ({
  id: "hold",
  type: "http",
  method: "POST",
  url: "https://api.example.com/holds",
  ...more,
});
const cancel = (more: object = {}) => ({
  type: "http",
  method: "DELETE",
  url: "https://api.example.com/holds/${{ result.body.id }}",
  ...more,
});

async function issues(...steps: object[]): Promise<string[]> {
  const { errors } = await checkerOf({}, httpStep).check(
    { inputs: { type: "object", properties: { n: { type: "number" } } }, steps },
    { checkConnections: false },
  );
  return errors.map(({ path, code }) => `${path} ${code}`);
}

const url = (expression: string) => cancel({ url: `https://x.example.com/\${{ ${expression} }}` });

describe("undo", () => {
  it("is a step of its own that reads the result, and what the step can read", async () => {
    expect(await issues(set("a", { x: 1 }), post({ undo: cancel({ timeout: "5s" }) }))).toEqual([]);
    const body = { was: "${{ result.status_code }}", of: "${{ steps.a.x + inputs.n }}" };
    expect(await issues(set("a", { x: 1 }), post({ undo: cancel({ method: "POST", body }) }))).toEqual([]);
    const item = post({
      for_each: "[{'id': 1}]",
      undo: cancel({ url: "https://x.example.com/${{ item.id }}" }),
    });
    expect(await issues(item)).toEqual([]);
  });

  it("reads nothing else", async () => {
    expect(await issues(post({ undo: url("result.stauts_code") }))).toEqual([
      "steps[0].undo.url unknown_field",
    ]);
    expect(await issues(post({ undo: url("item.id") }))).toEqual(["steps[0].undo.url unknown_name"]);
    expect(await issues(post({ undo: url("steps.later.x") }), set("later", { x: 1 }))).toEqual([
      "steps[0].undo.url not_an_ancestor",
    ]);
    expect(await issues(post({ url: "https://x.example.com/${{ result.id }}" }))).toEqual([
      "steps[0].url unknown_name",
    ]);
  });

  it("has the fields of its type, and none of a step", async () => {
    expect(await issues(post({ undo: { type: "http", methd: "DELETE" } }))).toEqual([
      "steps[0].undo.url missing",
      "steps[0].undo.methd unknown_key",
    ]);
    expect(await issues(post({ undo: cancel({ if: "true", id: "x" }) }))).toEqual([
      "steps[0].undo.if unknown_key",
      "steps[0].undo.id unknown_key",
    ]);
    expect(await issues(post({ undo: { url: "https://x.example.com" } }))).toEqual([
      "steps[0].undo.type missing",
    ]);
    expect(await issues(post({ undo: "cancel" }))).toEqual(["steps[0].undo wrong_type"]);
    // It must end by itself.
    expect(await issues(post({ undo: { type: "approval", message: "Undo?" } }))).toEqual([
      "steps[0].undo.type not_allowed",
    ]);
  });

  it("needs a step with an effect, and no cache", async () => {
    expect(await issues({ ...set("a", { x: 1 }), undo: cancel() })).toContain("steps[0].undo not_allowed");
    expect(await issues(post({ method: "GET", undo: cancel() }))).toEqual(["steps[0].undo not_allowed"]);
    expect(await issues(post({ cache: "1h", undo: cancel() }))).toContain("steps[0].cache not_allowed");
  });
});
