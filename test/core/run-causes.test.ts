import { describe, expect, it } from "vitest";
import type { RunActor, RunCause } from "../../src/core/model.ts";
import { causesOfRun, isPersonal, personalCause } from "../../src/core/run-causes.ts";

const actor = (owner: string, keyName = "browser", lineage = `usr_${owner}`): RunActor => ({
  owner,
  keyName,
  lineage,
  surface: "web",
  client: "vitest",
});
const ANN = actor("ann@example.com");
const BEN = actor("ben@example.com");
const UNSIGNED: RunCause = { kind: "unsigned" };

type Starting = Parameters<typeof causesOfRun>[0];

/** The causes of the run "run_1" that Ann starts, as `kind owner by`. */
const causes = (fields: Partial<Starting> = {}): string[] =>
  causesOfRun({
    id: "run_1",
    workflowId: "w",
    actor: ANN,
    definition: null,
    retryOf: undefined,
    causes: [],
    ...fields,
  }).map((cause) => (isPersonal(cause) ? `${cause.kind} ${cause.owner} ${cause.by}` : cause.kind));

const earlier = (fields: Partial<NonNullable<Starting["retryOf"]>> = {}): Starting["retryOf"] => ({
  id: "run_0",
  workflowId: "w",
  definition: null,
  actor: BEN,
  causes: [],
  ...fields,
});

describe("personalCause", () => {
  it("has who it was, and nothing else of an actor", () => {
    expect(personalCause("started", BEN, "run_0")).toEqual({
      kind: "started",
      owner: "ben@example.com",
      keyName: "browser",
      lineage: "usr_ben@example.com",
      by: "run_0",
    });
  });

  it("is personal, and a trigger without a signature is not", () => {
    expect(isPersonal(personalCause("started", BEN, "run_0"))).toBe(true);
    expect(isPersonal(UNSIGNED)).toBe(false);
  });
});

describe("causesOfRun", () => {
  it.each<[string, Partial<Starting>, string[]]>([
    ["none besides the actor for a run of a saved version", {}, []],
    [
      "those that it inherits",
      { causes: [UNSIGNED, personalCause("redelivered", BEN, "del_1")] },
      ["unsigned", "redelivered ben@example.com del_1"],
    ],
    ["its definer, for a definition of its own", { definition: {} }, ["patched ann@example.com run_1"]],
    ["its definer, for a single step", { definition: {}, workflowId: null }, ["step ann@example.com run_1"]],
    ["no definer, for a single step without a definition of its own", { workflowId: null }, []],
    ["who started what it repeats", { retryOf: earlier() }, ["started ben@example.com run_0"]],
    [
      "the causes of what it repeats, then who started that",
      { retryOf: earlier({ causes: [UNSIGNED] }) },
      ["unsigned", "started ben@example.com run_0"],
    ],
    [
      "who defined what it repeats, and who defines it",
      { retryOf: earlier({ definition: {} }), definition: {} },
      ["started ben@example.com run_0", "patched ben@example.com run_0", "patched ann@example.com run_1"],
    ],
    [
      "who ran the single step that it repeats",
      { retryOf: earlier({ definition: {}, workflowId: null }), workflowId: null },
      ["started ben@example.com run_0", "step ben@example.com run_0"],
    ],
  ])("are %s", (_what, fields, expected) => {
    expect(causes(fields)).toEqual(expected);
  });

  it("names each person once for each kind, with the first of their causes", () => {
    const again = personalCause("started", actor("ben@example.com", "laptop", "key_2"), "run_00");
    expect(
      causes({
        causes: [again, UNSIGNED, UNSIGNED, personalCause("redelivered", BEN, "d")],
        retryOf: earlier(),
      }),
    ).toEqual(["started ben@example.com run_00", "unsigned", "redelivered ben@example.com d"]);
  });

  it("keeps the keys of the operator apart", () => {
    const started = ["key_1", "key_2", "key_1"].map((lineage) =>
      personalCause("started", actor("operator", "ci", lineage), lineage),
    );
    expect(causes({ causes: started })).toEqual(["started operator key_1", "started operator key_2"]);
  });
});
