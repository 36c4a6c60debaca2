import { describe, expect, it } from "vitest";
import type { PinCalls } from "../../../src/engine/run-state/pin-calls.ts";
import { undecidableIn, unsignedApprovals } from "../../../src/engine/run-state/unsigned-approvals.ts";
import { beyondLimits, pinnedVersions } from "../../../src/engine/run-state/key-limits.ts";
import type { CompiledDefinition } from "../../../src/engine/definition/compiled-definition.ts";

interface Version {
  resources?: (string | null)[];
  undo?: (string | null)[];
  lookups?: (string | null)[];
  steps?: { type: string }[];
}

/** A cache with these versions, by the ids of their workflows. */
const cacheOf = (versions: Readonly<Record<string, Version>>) =>
  ({
    async find({ workflowId }: { workflowId: string }) {
      const found = versions[workflowId];
      if (found === undefined) return undefined;
      const { resources = [], undo = [], lookups = [], steps } = found;
      return {
        definition: { steps },
        resources,
        undo: new Map(undo.map((resource, index) => [`s${index}`, { resource }])),
        lookups: new Map(lookups.map((resource, index) => [`s${index}`, { resource }])),
      } as unknown as CompiledDefinition;
    },
  }) as unknown as Parameters<typeof beyondLimits>[0];
const RUNS = {} as Parameters<typeof beyondLimits>[1];
const own = (workflowId: string) => ({ id: "run_1", workflowId, version: 1, definition: null });
const [called] = pinnedVersions({ called: 3 });

describe("pinnedVersions", () => {
  it("have no id, because no run of the caller follows them", () => {
    expect(pinnedVersions({ a: 1, b: 2 })).toEqual([
      { id: "", workflowId: "a", version: 1, definition: null },
      { id: "", workflowId: "b", version: 2, definition: null },
    ]);
    expect(pinnedVersions({})).toEqual([]);
  });
});

const uses = (kind: string, name: string) => `uses the ${kind} ${name}, which this key may not use`;

describe("beyondLimits", () => {
  const cache = cacheOf({
    w: { resources: ["database:shop", null, "model:large", "server:crm"], undo: ["database:crm", null] },
    called: { resources: ["database:shop"] },
    seen: { resources: [null], lookups: ["database:shop", null] },
    small: { resources: ["database:scratch", "model:small"] },
  });
  const issuesOf = (...args: Parameters<ReturnType<typeof beyondLimits>>) =>
    beyondLimits(cache, RUNS)(...args);
  const messages = async (...args: Parameters<ReturnType<typeof beyondLimits>>) =>
    (await issuesOf(...args)).map(({ message }) => message);

  it.each<[string, Parameters<typeof issuesOf>[1], string[]]>([
    ["nothing without limits", null, []],
    ["nothing with other limits", {}, []],
    [
      "the databases of the steps and their undo",
      { databases: [] },
      [uses("database", "shop"), uses("database", "crm")],
    ],
    ["only the databases that are not granted", { databases: ["shop"] }, [uses("database", "crm")]],
    ["the models", { models: [] }, [uses("model", "large")]],
    ["nothing that is granted", { databases: ["shop", "crm"], models: ["large"] }, []],
    [
      "databases before models",
      { databases: ["crm"], models: ["shop"] },
      [uses("database", "shop"), uses("model", "large")],
    ],
  ])("finds %s", async (_what, limits, expected) => {
    expect(await messages([own("w")], limits)).toEqual(expected);
  });

  it("finds the databases of lookups", async () => {
    expect(await messages([own("seen")], { databases: ["crm"] })).toEqual([uses("database", "shop")]);
  });

  it("lets every key use the scratch database", async () => {
    expect(await messages([own("small")], { databases: [], models: ["small"] })).toEqual([]);
  });

  it("names no database of a called workflow, which may belong to another project", async () => {
    expect(await issuesOf([own("small"), called!], { databases: ["crm"] })).toEqual([
      {
        path: "",
        code: "beyond_key_limits",
        message: "calls the workflow called, which uses a database that this key may not use",
        allowed: ["crm"],
        fix: "Use another key, or ask its owner for one with wider limits.",
      },
    ]);
  });

  it("finds nothing in a version that can't run", async () => {
    expect(await messages([own("gone")], { databases: [], models: [] })).toEqual([]);
  });
});

const pin: PinCalls = async (ids) => Object.fromEntries(ids.map((id) => [id, 1]));

describe("unsignedApprovals", () => {
  const steps = [{ type: "set" }, { type: "approval" }, { type: "approval" }];
  const cache = cacheOf({ w: { steps }, called: { steps } });
  const issues = (isAllowed: boolean, ...versions: ReturnType<typeof own>[]) =>
    unsignedApprovals(cache, RUNS, isAllowed)(versions);

  it("are the steps of the own definition that ask for an approval", async () => {
    const found = await issues(false, own("w"));
    expect(found.map(({ path, code }) => [path, code])).toEqual([
      ["steps[1]", "unsigned_approval"],
      ["steps[2]", "unsigned_approval"],
    ]);
    expect(found[0]!.message).toContain(
      "asks for an approval, but a trigger without a signature starts the run",
    );
    expect(found[0]!.fix).toContain("Add signature to the trigger");
  });

  it("are one issue for a called workflow, without its steps", async () => {
    const found = await issues(false, called as ReturnType<typeof own>);
    expect(found.map(({ path, code }) => [path, code])).toEqual([["", "unsigned_approval"]]);
    expect(found[0]!.message).toContain(
      "calls the workflow called, which asks for an approval, but a trigger",
    );
    expect(found[0]!.fix).toContain("Add signature to the trigger");
  });

  it("are none where the operator allows it, and in a version that can't run", async () => {
    expect(await issues(true, own("w"))).toEqual([]);
    expect(await issues(false, own("gone"))).toEqual([]);
  });

  /** The paths of the issues of a definition whose called workflows, if any, ask for an approval. */
  const pathsIn = async (
    definition: Readonly<Record<string, unknown>>,
    calls: readonly string[] = [],
    isAllowed = false,
  ): Promise<string[]> => {
    const undecidable = unsignedApprovals(cache, RUNS, isAllowed);
    const found = await undecidableIn(pin, undecidable, isAllowed)(definition, calls);
    return found.map(({ path }) => path);
  };
  const triggers = [{ signature: {} }, {}];

  it("undecidableIn finds the approvals of a definition and of what it calls", async () => {
    expect(await pathsIn({ steps, triggers })).toEqual(["steps[1]", "steps[2]"]);
    expect(await pathsIn({ triggers }, ["w", "gone"])).toEqual([""]);
    expect(await pathsIn({ triggers })).toEqual([]);
    expect(await pathsIn({ steps: [{ type: "set" }], triggers })).toEqual([]);
    expect(await pathsIn({ steps, triggers }, ["w"], true)).toEqual([]);
  });

  it("undecidableIn finds none where every trigger has a signature", async () => {
    expect(await pathsIn({ steps })).toEqual([]);
    expect(await pathsIn({ steps, triggers: [] })).toEqual([]);
    expect(await pathsIn({ steps, triggers: [{ signature: {} }] }, ["w"])).toEqual([]);
  });
});
