import { expect, it } from "vitest";
import { warningPatches } from "../../../src/web/editor/fix-all.ts";

const remove = (path: string) => ({ patch: [{ op: "remove" as const, path }] });

it("applies the fixes of warnings from the last place to the first, each once", () => {
  const patches = warningPatches([
    remove("/steps/0/assignees/2"),
    {},
    remove("/steps/0/assignees/10"),
    remove("/steps/0/assignees/2"),
    remove("/steps/1/assignees/1"),
  ]);
  expect(patches.map(([operation]) => operation!.path)).toEqual([
    "/steps/1/assignees/1",
    "/steps/0/assignees/10",
    "/steps/0/assignees/2",
  ]);
});
