import { describe, expect, it } from "vitest";
import type { Authorship } from "../../src/core/authorship.ts";
import {
  type AuthorshipReaders,
  findAuthoredWork,
  findStart,
  isOwnWork,
} from "../../src/core/authored-work.ts";
import type { RunCause, RunRecord } from "../../src/core/model.ts";
import { personalCause } from "../../src/core/run-causes.ts";
import { newRun } from "../support/run-records.ts";

const person = (owner: string, keyName = "browser", lineage = `usr_${owner}`) => ({
  owner,
  keyName,
  lineage,
});
const ANN = person("ann@example.com");
const BEN = person("ben@example.com");
const CI = person("operator", "ci", "key_ci");
const OTHER_CI = person("operator", "ci", "key_other");
const UNSIGNED: RunCause = { kind: "unsigned" };

const run = (fields: Partial<RunRecord> = {}): RunRecord =>
  ({
    ...newRun("run_1"),
    actor: { ...BEN, surface: "web", client: "vitest" },
    ...fields,
  }) as RunRecord;
const by = (who: typeof ANN) => ({ ...who, surface: "web", client: "vitest" }) as RunRecord["actor"];

/** Ann wrote these versions; Ben wrote all others. */
function readers(written: readonly string[], runs: readonly RunRecord[] = []): AuthorshipReaders {
  const authorshipOf = (ref: string, version: number): Authorship => ({
    authors: [
      {
        owner: written.includes(ref) ? ANN.owner : BEN.owner,
        keyName: "browser",
        subject: written.includes(ref) ? ANN.owner : BEN.owner,
        version,
      },
    ],
    reviews: [],
  });
  return {
    runs: { find: async (id) => runs.find((one) => one.id === id) },
    workflows: {
      async authorship(id, version) {
        if (typeof id !== "string" || typeof version !== "number")
          throw new TypeError(`no version ${id}@${version}`);
        return authorshipOf(`${id}@${version}`, version);
      },
    },
  };
}
const NOTHING = { versions: [] };
const remaining = (...refs: [string, number][]) => ({
  versions: refs.map(([workflowId, version]) => ({ workflowId, version })),
});

describe("findStart", () => {
  it.each<[string, typeof ANN, Partial<RunRecord>, string | undefined]>([
    ["the run that the person started", BEN, {}, "started run_1"],
    ["nothing of a run that another person started", ANN, {}, undefined],
    ["the run under another tag of the address", person("Ben+2@example.com"), {}, "started run_1"],
    [
      "what the run repeats",
      ANN,
      { causes: [UNSIGNED, personalCause("started", ANN, "run_0")] },
      "started run_0",
    ],
    [
      "a redelivery rather than the run",
      BEN,
      { causes: [personalCause("started", BEN, "run_0"), personalCause("redelivered", BEN, "del_1")] },
      "redelivered del_1",
    ],
    [
      "the run rather than what it repeats",
      BEN,
      { causes: [personalCause("started", BEN, "run_0")] },
      "started run_1",
    ],
    ["nothing of a changed definition", ANN, { causes: [personalCause("patched", ANN, "run_0")] }, undefined],
    ["nothing of a single step", ANN, { causes: [personalCause("step", ANN, "run_0")] }, undefined],
    ["the run that a key of the operator started", CI, { actor: by(CI) }, "started run_1"],
    ["nothing for another key of the operator", OTHER_CI, { actor: by(CI) }, undefined],
  ])("finds %s", (_what, who, fields, expected) => {
    const found = findStart(who, run(fields));
    expect(found && `${found.kind} ${found.by}`).toBe(expected);
  });
});

describe("findAuthoredWork", () => {
  const parent = run({ id: "run_parent", pins: { pinned: 4 } });
  const top = run({ id: "run_top", pins: { above: 5 } });
  const child = run({ parent: { runId: "run_parent", stepId: "call", item: null } });
  const nested = { ...parent, parent: { runId: "run_top", stepId: "call", item: null } };

  it.each<[string, AuthorshipReaders, RunRecord, ReturnType<typeof remaining>, unknown]>([
    [
      "a version that can still run",
      readers(["w@3"]),
      run(),
      remaining(["v", 2], ["w", 3]),
      {
        kind: "wrote",
        version: 3,
        workflowId: "w",
      },
    ],
    ["nothing of what others wrote", readers([]), run(), remaining(["w", 3]), undefined],
    ["nothing of another version", readers(["w@2"]), run(), remaining(["w", 3]), undefined],
    [
      "a version that wrote the inputs of the run",
      readers(["f@6"]),
      run({ causes: [{ kind: "inputs", by: "run_f", versions: [{ workflowId: "f", version: 6 }] }] }),
      NOTHING,
      {
        kind: "wrote",
        version: 6,
        workflowId: "f",
      },
    ],
    [
      "a version that the run has called",
      readers(["p@7"]),
      run({ pins: { p: 7 } }),
      NOTHING,
      {
        kind: "wrote",
        version: 7,
        workflowId: "p",
      },
    ],
    [
      "a version that the run's parent has called",
      readers(["pinned@4"], [parent]),
      child,
      NOTHING,
      {
        kind: "wrote",
        version: 4,
        workflowId: "pinned",
      },
    ],
    [
      "a version that the parent's parent has called",
      readers(["above@5"], [nested, top]),
      child,
      NOTHING,
      {
        kind: "wrote",
        version: 5,
        workflowId: "above",
      },
    ],
    ["nothing of a parent that was purged", readers(["pinned@4"]), child, NOTHING, undefined],
  ])("finds %s", async (_what, read, of, rest, expected) => {
    expect(await findAuthoredWork(read, ANN, of, rest)).toEqual(expected);
  });

  it.each<[string, typeof ANN, RunCause[], unknown]>([
    [
      "the definition that the person changed",
      ANN,
      [UNSIGNED, personalCause("patched", ANN, "run_0")],
      {
        kind: "patched",
        runId: "run_0",
      },
    ],
    [
      "the single step that the person ran",
      ANN,
      [personalCause("step", ANN, "run_0")],
      {
        kind: "step",
        runId: "run_0",
      },
    ],
    [
      "nothing of the definition that another person changed",
      ANN,
      [personalCause("patched", BEN, "run_0")],
      undefined,
    ],
    [
      "nothing of a run that the person only started",
      ANN,
      [personalCause("started", ANN, "run_0")],
      undefined,
    ],
    [
      "nothing of what the person only delivered again",
      ANN,
      [personalCause("redelivered", ANN, "d")],
      undefined,
    ],
    [
      "the definition that a key of the operator changed",
      CI,
      [personalCause("patched", CI, "run_0")],
      {
        kind: "patched",
        runId: "run_0",
      },
    ],
    ["nothing for another key of the operator", OTHER_CI, [personalCause("patched", CI, "run_0")], undefined],
  ])("finds %s", async (_what, who, causes, expected) => {
    expect(await findAuthoredWork(readers([]), who, run({ causes }), NOTHING)).toEqual(expected);
  });
});

const rule = (approvalsByStarter: boolean, approvalsByAuthor: boolean) => ({
  approvalsByStarter,
  approvalsByAuthor,
});

const isAnns = (policy: ReturnType<typeof rule>, of: RunRecord, read: AuthorshipReaders, rest = NOTHING) =>
  isOwnWork(policy, read, "ann@example.com", of, rest);

describe("isOwnWork", () => {
  const started = run({ actor: by(ANN) });
  const wrote = { of: run(), read: readers(["w@3"]), rest: remaining(["w", 3]) };

  it("is true for who started the run, unless the operator allows that", async () => {
    expect(await isAnns(rule(false, false), started, readers([]))).toBe(true);
    expect(await isAnns(rule(false, true), started, readers([]))).toBe(true);
    expect(await isAnns(rule(true, false), started, readers([]))).toBe(false);
  });

  it("is true for who wrote what it runs, unless the operator allows that", async () => {
    const { of, read, rest } = wrote;
    expect(await isOwnWork(rule(false, false), read, "ann@example.com", of, rest)).toBe(true);
    expect(await isOwnWork(rule(true, false), read, "ann@example.com", of, rest)).toBe(true);
    expect(await isOwnWork(rule(false, true), read, "ann@example.com", of, rest)).toBe(false);
    expect(await isOwnWork(rule(false, false), read, "eva@example.com", of, rest)).toBe(false);
  });
});
