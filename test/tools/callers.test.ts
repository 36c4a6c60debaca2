import { describe, expect, it } from "vitest";
import { projectWriter } from "../../src/store/projects.ts";
import { archiveWorkflow } from "../../tools/workflows/archive-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { getWorkflow } from "../../tools/workflows/get-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { unpublishWorkflow } from "../../tools/workflows/unpublish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal } from "../support/users.ts";

const set = (values: object) => ({ id: "a", type: "set", values });
const run = (workflow: string, inputs: object = {}) => ({ id: "sub", type: "workflow", workflow, inputs });
const inputs = (properties: object) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});

async function open() {
  const instance = await testInstance();
  const call = callAs(instance, keyPrincipal());
  return {
    instance,
    call,
    async define(name: string, definition: object): Promise<void> {
      const { issues } = await call(createWorkflow, { name, definition });
      expect(issues).toEqual([]);
      await call(publishWorkflow, { workflow_id: name });
    },
    redefine: (workflow_id: string, definition: object) => call(updateWorkflow, { workflow_id, definition }),
    publish: (workflow_id: string, more: object = {}) => call(publishWorkflow, { workflow_id, ...more }),
    usedBy: async (workflow_id: string) => (await call(getWorkflow, { workflow_id })).used_by,
  };
}

/** `top` runs `middle`, which runs `base`; both rely on the output of `base`. */
async function chain() {
  const harness = await open();
  await harness.define("base", {
    inputs: inputs({ n: { type: "number" } }),
    steps: [set({ total: "${{ inputs.n }}", name: "x" })],
  });
  await harness.define("middle", {
    steps: [run("base", { n: 3 })],
    output: { total: "${{ steps.sub.output.total }}" },
  });
  await harness.define("top", {
    steps: [run("middle"), { ...set({ next: "${{ steps.sub.output.total + 1 }}" }), id: "b" }],
  });
  return harness;
}

describe("used_by", () => {
  it("lists the workflows that run a workflow, by their newest and their published version", async () => {
    const { call, define, redefine, usedBy } = await open();
    const steps = [set({ n: 1 })];
    for (const name of ["base", "other"]) await define(name, { steps });
    expect(await usedBy("base")).toEqual([]);
    await define("zeta", { steps: [run("base"), { ...run("base"), id: "again" }] });
    await define("alpha", { steps, on_failure: "base" });
    expect(await usedBy("base")).toEqual(["alpha", "zeta"]);
    await redefine("zeta", { steps: [run("other")] });
    expect([await usedBy("base"), await usedBy("other")]).toEqual([["alpha", "zeta"], ["zeta"]]);
    await call(publishWorkflow, { workflow_id: "zeta" });
    expect([await usedBy("base"), await usedBy("other")]).toEqual([["alpha"], ["zeta"]]);
    await call(unpublishWorkflow, { workflow_id: "alpha" });
    expect(await usedBy("base")).toEqual(["alpha"]);
    await call(archiveWorkflow, { workflow_id: "alpha" });
    expect(await usedBy("base")).toEqual([]);
  });
});

describe("publishing a version that breaks callers", () => {
  it("is refused with the issues of every caller, also on the levels above", async () => {
    const { redefine, publish, call } = await chain();
    await redefine("base", {
      inputs: inputs({ n: { type: "number" } }),
      steps: [set({ sum: "${{ inputs.n }}" })],
    });
    await expect(publish("base")).rejects.toMatchObject({
      code: "callers_would_break",
      status: 409,
      message: expect.stringContaining('break_callers: ["middle","top"]'),
      details: {
        errors: [
          { path: "break_callers", allowed: ["middle", "top"] },
          { path: "middle.output.total", code: "unknown_field" },
          { path: "top.steps[0].workflow", code: "workflow_not_runnable" },
        ],
      },
    });
    expect((await call(getWorkflow, { workflow_id: "base" })).published_version).toBe(1);
    await expect(publish("base", { break_callers: ["middle"] })).rejects.toMatchObject({
      code: "callers_would_break",
    });
    expect(await publish("base", { break_callers: ["top", "middle"] })).toMatchObject({
      published_version: 2,
    });
  });

  it("is refused for its inputs, and for a type that changes on the way", async () => {
    const { redefine, publish } = await chain();
    await redefine("base", {
      inputs: inputs({ n: { type: "number", maximum: 2 } }),
      steps: [set({ total: "${{ inputs.n }}" })],
    });
    await expect(publish("base")).rejects.toMatchObject({
      details: {
        errors: [
          { path: "break_callers" },
          { path: "middle.steps[0].inputs.n" },
          { path: "top.steps[0].workflow" },
        ],
      },
    });
    await redefine("base", {
      inputs: inputs({ n: { type: "number" } }),
      steps: [set({ total: "text" })],
    });
    await expect(publish("base")).rejects.toMatchObject({
      details: { errors: [{ path: "break_callers" }, { path: "top.steps[1].values.next" }] },
    });
  });

  it("is not refused for what fits, nor for callers that are broken already, drafts or archived", async () => {
    const { define, redefine, publish, call } = await chain();
    await redefine("base", {
      inputs: inputs({ n: { type: "number" } }),
      steps: [set({ total: "${{ inputs.n }}", more: 1 })],
    });
    expect(await publish("base")).toMatchObject({ published_version: 2 });
    await define("gone", { steps: [run("base", { n: 1 })] });
    await call(archiveWorkflow, { workflow_id: "gone" });
    await call(createWorkflow, { name: "draft", definition: { steps: [run("base", { n: 1 })] } });
    const incompatible = { inputs: inputs({ m: { type: "string" } }), steps: [set({ total: 1 })] };
    await redefine("base", incompatible);
    await publish("base", { break_callers: ["middle", "top"] });
    await redefine("base", { ...incompatible, timeout: "1h" });
    expect(await publish("base")).toMatchObject({ published_version: 4 });
  });

  it("protects the handler of a failure", async () => {
    const { define, redefine, publish } = await open();
    await define("tell", { inputs: inputs({ run_id: { type: "string" } }), steps: [set({ n: 1 })] });
    await define("main", { steps: [set({ n: 1 })], on_failure: "tell" });
    await redefine("tell", { inputs: inputs({ team: { type: "string" } }), steps: [set({ n: 1 })] });
    await expect(publish("tell")).rejects.toMatchObject({
      details: { errors: [{ path: "break_callers" }, { path: "main.on_failure", code: "unfit_inputs" }] },
    });
  });

  it("is refused for callers behind more than a thousand others", async () => {
    const { redefine, publish, instance } = await chain();
    await instance.store.transaction(async (trx) => {
      const of = (id: string) => trx.selectFrom("workflows").selectAll().where("id", "=", id);
      const workflow = await of("middle").executeTakeFirstOrThrow();
      const version = await trx
        .selectFrom("workflow_versions")
        .selectAll()
        .where("workflow_id", "=", "middle")
        .executeTakeFirstOrThrow();
      for (let index = 0; index < 1_000; index += 1) {
        const id = `copy-${index}`;
        await trx
          .insertInto("workflows")
          .values({ ...workflow, id })
          .execute();
        await trx
          .insertInto("workflow_versions")
          .values({ ...version, workflow_id: id, definition: null })
          .execute();
        await trx.insertInto("workflow_calls").values({ caller: id, callee: "base", published: 1 }).execute();
      }
    });
    await redefine("base", {
      inputs: inputs({ n: { type: "number" } }),
      steps: [set({ total: "text" })],
    });
    await expect(publish("base")).rejects.toMatchObject({
      code: "callers_would_break",
      details: { errors: [{ allowed: ["top"] }, { path: "top.steps[1].values.next" }] },
    });
  });

  it("checks the callers again when another workflow changes meanwhile", async () => {
    const { redefine, publish } = await chain();
    await redefine("base", {
      inputs: inputs({ n: { type: "number" } }),
      steps: [set({ total: "${{ inputs.n }}", sum: 1 })],
    });
    const outcomes = await Promise.allSettled([
      publish("base"),
      redefine("top", { steps: [run("middle")] }),
      redefine("middle", { steps: [run("base", { n: 4 })] }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
  });
});

describe("taking a workflow away from published callers", () => {
  it("is refused for archiving, with every caller, unless each may break", async () => {
    const { call, define } = await chain();
    await define("handled", { steps: [set({ n: 1 })], on_failure: "middle" });
    const archive = (workflow_id: string, more: object = {}) =>
      call(archiveWorkflow, { workflow_id, ...more });
    await expect(archive("middle")).rejects.toMatchObject({
      code: "callers_would_break",
      message: expect.stringContaining(
        'Nothing was archived: archiving "middle" would break 2 workflows that run it: ' +
          'handled (on_failure runs "middle", which would be archived); ' +
          'top (steps[0].workflow runs "middle", which would be archived)',
      ),
      details: {
        errors: [
          { path: "break_callers", allowed: ["handled", "top"] },
          { path: "handled.on_failure", code: "workflow_archived" },
          { path: "top.steps[0].workflow", code: "workflow_archived" },
        ],
      },
    });
    await expect(archive("middle", { break_callers: ["top"] })).rejects.toMatchObject({
      code: "callers_would_break",
    });
    expect((await call(getWorkflow, { workflow_id: "middle" })).status).toBe("published");
    expect(await archive("middle", { break_callers: ["top", "handled"] })).toMatchObject({
      status: "archived",
    });
    // They are broken already.
    expect(await archive("base")).toMatchObject({ status: "archived" });
    expect(await archive("top")).toMatchObject({ status: "archived" });
  });

  it("is refused for unpublishing if the newest version, which callers run then, does not fit", async () => {
    const { call, redefine } = await chain();
    const unpublish = (more: object = {}) => call(unpublishWorkflow, { workflow_id: "base", ...more });
    await redefine("base", {
      inputs: inputs({ n: { type: "number" } }),
      steps: [set({ sum: "${{ inputs.n }}" })],
    });
    await expect(unpublish()).rejects.toMatchObject({
      code: "callers_would_break",
      message: expect.stringContaining(
        'Nothing was unpublished: unpublishing "base" would break 2 workflows',
      ),
      details: {
        errors: [
          { allowed: ["middle", "top"] },
          { path: "middle.output.total", code: "unknown_field" },
          { path: "top.steps[0].workflow" },
        ],
      },
    });
    await redefine("base", {
      inputs: inputs({ n: { type: "number" } }),
      steps: [set({ total: "${{ inputs.n }}" })],
    });
    expect(await unpublish()).toMatchObject({ status: "draft", published_version: null });
  });

  it("is refused for unpublishing in a project with review, where callers run no draft", async () => {
    const { call, instance } = await chain();
    await instance.store.transaction((trx) => projectWriter(trx).update("default", { review: true }));
    const unpublish = (more: object = {}) => call(unpublishWorkflow, { workflow_id: "base", ...more });
    await expect(unpublish()).rejects.toMatchObject({
      code: "callers_would_break",
      details: {
        errors: [
          { allowed: ["middle", "top"] },
          { path: "middle.steps[0].workflow", code: "not_published" },
          { path: "top.steps[0].workflow" },
        ],
      },
    });
    expect(await unpublish({ break_callers: ["middle", "top"] })).toMatchObject({ status: "draft" });
  });

  it("is not refused for drafts that run it", async () => {
    const { call, define } = await open();
    await define("base", { steps: [set({ n: 1 })] });
    await call(createWorkflow, { name: "draft", definition: { steps: [run("base")] } });
    expect(await call(unpublishWorkflow, { workflow_id: "base" })).toMatchObject({ status: "draft" });
    expect(await call(archiveWorkflow, { workflow_id: "base" })).toMatchObject({ status: "archived" });
  });
});
