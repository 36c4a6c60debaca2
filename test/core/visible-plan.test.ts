import { describe, expect, it } from "vitest";
import { sightOfProject, visiblePlan } from "../../src/core/visible-plan.ts";
import type { RunRecord } from "../../src/core/model.ts";

type Planned = Parameters<typeof visiblePlan>[0][number];

const planned = (
  id: string,
  role: Planned["role"],
  calls: string[] = [],
  more: Partial<Planned> = {},
): Planned => ({
  workflow_id: id,
  version: 1,
  role,
  steps: [{ id: "step", type: "workflow", effect: "Runs it", does: "runs", targets: calls }],
  ...more,
});
const parent = (id: string) => planned(id, "parent", [], { run_id: `run_${id}` });
const named = (id: string) => ({ workflow_id: id, version: 1, role: "called", foreign: true, steps: [] });

/** The plan for somebody who can see these workflows, and their runs. */
const seenBy = (ids: readonly string[], ...workflows: Planned[]) =>
  visiblePlan(workflows, {
    workflow: async (id) => ids.includes(id),
    run: async (id) => ids.includes(id.slice("run_".length)),
  });

describe("visiblePlan", () => {
  it.each(["run", "reviewed", "planned"] as const)(
    "always shows what the plan is about: %s",
    async (role) => {
      const own = planned("own", role);
      expect(await seenBy([], own)).toEqual([own]);
    },
  );

  it("names a hidden workflow that a shown one calls, also one that is called on failure, and drops what only it calls", async () => {
    const own = planned("own", "run", ["a"], { on_failure: "b" });
    const plan = await seenBy(
      [],
      own,
      planned("a", "called", ["c"]),
      planned("b", "called"),
      planned("c", "called"),
    );
    expect(plan).toEqual([own, named("a"), named("b")]);
  });

  it("names a hidden workflow that is called further down the list", async () => {
    const own = planned("own", "run", ["b"]);
    const b = planned("b", "called", ["a"]);
    expect(await seenBy(["b"], own, planned("a", "called"), b)).toEqual([own, named("a"), b]);
  });

  it("shows what does not exist as what it is", async () => {
    const own = planned("own", "run", ["none"]);
    const none = { workflow_id: "none", version: null, role: "called" as const, steps: [] };
    expect(await seenBy([], own, none)).toEqual([own, none]);
  });

  it("shows of a hidden caller the id of its run, and nothing of a hidden run above", async () => {
    const own = planned("own", "run");
    const hidden = {
      workflow_id: null,
      version: null,
      role: "parent",
      run_id: "run_a",
      foreign: true,
      steps: [],
    };
    expect(await seenBy([], own, parent("a"), parent("b"))).toEqual([own, hidden]);
    expect(await seenBy(["b"], own, parent("a"), parent("b"))).toEqual([own, hidden, parent("b")]);
    expect(await seenBy(["a"], own, parent("a"), parent("b"))).toEqual([own, parent("a")]);
  });
});

describe("sightOfProject", () => {
  const sight = sightOfProject(
    {
      workflows: { projectOf: async (id) => (id === "gone" ? undefined : id.split(".")[0]!) },
      runs: { find: async (id) => (id === "run_gone" ? undefined : ({ project: id.slice(4) } as RunRecord)) },
    },
    "finance",
  );

  it("is what belongs to the project", async () => {
    const workflows = await Promise.all(["finance.a", "sales.a", "gone"].map(sight.workflow));
    const runs = await Promise.all(["run_finance", "run_sales", "run_gone"].map(sight.run));
    expect([workflows, runs]).toEqual([
      [true, false, false],
      [true, false, false],
    ]);
  });
});
