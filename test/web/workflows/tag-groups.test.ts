import { expect, it } from "vitest";
import type { Workflow } from "../../../schemas/workflow.ts";
import { groupByTag } from "../../../src/web/workflows/tag-groups.ts";

const workflow = (id: string, tags: string[]) => ({ id, tags }) as unknown as Workflow;

it("workflows are in the group of each of their tags, those without a tag last", () => {
  const listed = [workflow("a", ["sales", "daily"]), workflow("b", []), workflow("c", ["daily"])];
  expect(groupByTag(listed).map(({ tag, workflows }) => [tag, workflows.map(({ id }) => id)])).toEqual([
    ["daily", ["a", "c"]],
    ["sales", ["a"]],
    [null, ["b"]],
  ]);
  expect(groupByTag([])).toEqual([]);
});
