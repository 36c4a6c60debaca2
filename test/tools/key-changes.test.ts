/** What a revert of a key's changes does in cases that the random histories do not have. */
import { describe, expect, it } from "vitest";
import { iso } from "../../src/core/clock.ts";
import { getKeyChanges } from "../../tools/key-changes/get-key-changes.ts";
import { revertKeyChanges } from "../../tools/key-changes/revert-key-changes.ts";
import { createProject } from "../../tools/projects/create-project.ts";
import { listSchedules } from "../../tools/schedules/list-schedules.ts";
import { allowExposure } from "../../tools/workflows/allow-exposure.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { getExposure } from "../../tools/workflows/get-exposure.ts";
import { getWorkflow } from "../../tools/workflows/get-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { withdrawExposure } from "../../tools/workflows/withdraw-exposure.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal, signedInUser } from "../support/users.ts";

const set = (id: string, value: number) => ({ id, type: "set", values: { value } });
const steps = (...list: object[]) => ({ steps: list });

/** A workflow with one input, and one that runs it. */
const callee = (name: string) => ({
  inputs: { type: "object", properties: { [name]: { type: "string" } }, required: [name] },
  ...steps(set("x", 1)),
});
const caller = (name: string) =>
  steps({ id: "sub", type: "workflow", workflow: "callee", inputs: { [name]: "x" } });

/** Ann with a key, an admin, and a workflow of two steps that the admin published before `since`. */
async function scene() {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const { principal: annPrincipal } = await signedInUser(instance, { email: "ann@example.com" });
  const { principal: adminPrincipal } = await signedInUser(instance, {
    email: "root@example.com",
    role: "admin",
  });
  const { record } = await instance.key({ owner: "ann@example.com", name: "ci" });
  const keyOf = (
    { id, lineage }: { id: string; lineage: string },
    scopes?: Parameters<typeof keyPrincipal>[0],
  ) =>
    callAs(
      instance,
      { ...keyPrincipal(scopes, "ann@example.com"), keyId: id, keyName: "ci", lineage },
      { surface: "mcp", name: "agent" },
    );
  const [ann, admin, key] = [callAs(instance, annPrincipal), callAs(instance, adminPrincipal), keyOf(record)];
  await admin(createWorkflow, { name: "flow", definition: steps(set("a", 1), set("b", 1)) });
  await admin(publishWorkflow, { workflow_id: "flow" });
  clock.advance(1_000);
  const input = { key_id: record.id, since: iso(clock.now()) };
  const flow = () => admin(getWorkflow, { workflow_id: "flow" });
  const edit = (by: typeof ann, definition: object, workflow_id = "flow") =>
    by(updateWorkflow, { workflow_id, definition });
  return { instance, clock, record, keyOf, ann, admin, key, input, flow, edit };
}

describe("a revert of what a key changed", () => {
  it("gives the new version a reason, and leaves the earlier ones in the history", async () => {
    const { ann, key, input, flow, edit, instance } = await scene();
    for (const value of [2, 3, 4]) await edit(key, steps(set("a", value)));
    await key(publishWorkflow, { workflow_id: "flow" });
    const { workflows } = await ann(revertKeyChanges, input);
    expect(workflows).toMatchObject([
      {
        outcome: "reverted",
        version: 5,
        published_version: 1,
        effects: ["version 5 gets the content of version 1", "version 1 is published again"],
        changes: [
          { change: "edited", count: 3, from: 1, to: 4 },
          { change: "published", count: 1, from: 1, to: 4 },
        ],
      },
    ]);
    expect(await flow()).toMatchObject({ version: 5, definition: steps(set("a", 1), set("b", 1)) });
    const versions = await instance.services.read.workflows.versions({
      id: "flow",
      before: null,
      limit: 9,
      withDefinition: false,
    });
    expect(versions.map(({ version, reason, created_by }) => [version, reason, created_by])).toEqual([
      [5, 'reverts versions 2–4 of key "ci"', "ann@example.com"],
      [4, null, "ann@example.com"],
      [3, null, "ann@example.com"],
      [2, null, "ann@example.com"],
      [1, null, "root@example.com"],
    ]);
  });

  it("covers the keys that it was rotated to or from, and revoked ones", async () => {
    const { ann, keyOf, instance, clock, record, input, edit, flow } = await scene();
    await edit(keyOf({ id: "key_next", lineage: record.lineage }), steps(set("a", 9)));
    await instance.keys.revoke(record.id, iso(clock.now()), "ann@example.com");
    expect(await ann(revertKeyChanges, input)).toMatchObject({
      key: { state: "revoked" },
      attribution: "key",
      workflows: [{ outcome: "reverted" }],
    });
    expect(await flow()).toMatchObject({ definition: steps(set("a", 1), set("b", 1)) });
  });

  it("names who changed a workflow afterwards, and takes only the key's part out when asked to", async () => {
    const { ann, admin, key, input, flow, edit } = await scene();
    await edit(key, steps(set("a", 2), set("b", 1), set("bad", 1)));
    await edit(admin, steps(set("a", 2), set("b", 5), set("bad", 1), set("good", 1)));
    const [skipped] = (await ann(revertKeyChanges, input)).workflows;
    expect(skipped).toMatchObject({
      outcome: "skipped",
      reason: { code: "changed_since" },
      changed_since: [{ owner: "root@example.com", change: "edited", version: 3 }],
    });
    expect(skipped!.reason!.message).toContain("root@example.com (browser) changed it (version 3)");
    const merged = await ann(revertKeyChanges, { ...input, include_later: true });
    expect(merged.workflows).toMatchObject([{ outcome: "reverted", version: 4 }]);
    expect(await flow()).toMatchObject({ definition: steps(set("a", 1), set("b", 5), set("good", 1)) });
    expect(await ann(revertKeyChanges, { ...input, include_later: true })).toMatchObject({
      workflows: [],
      already_reverted: 1,
    });
  });

  it("reports a conflict, and a definition that is not valid without the key's part", async () => {
    const { ann, admin, key, input, flow, edit } = await scene();
    await edit(key, steps(set("a", 2), set("b", 1)));
    await edit(admin, steps(set("a", 3), set("b", 1)));
    const later = { ...input, include_later: true };
    expect((await ann(revertKeyChanges, later)).workflows).toMatchObject([
      { outcome: "skipped", reason: { code: "merge_conflict" } },
    ]);
    await edit(key, steps(set("a", 3), set("b", 1), set("new", 1)), "flow");
    const uses = { id: "c", type: "set", values: { v: "${{ steps.new.value }}" } };
    const dependent = { ...input, include_later: true };
    await admin(createWorkflow, { name: "second", definition: steps(set("a", 1)) });
    await edit(key, steps(set("a", 1), set("new", 1)), "second");
    await edit(admin, steps(set("a", 1), set("new", 1), uses), "second");
    const { workflows } = await ann(revertKeyChanges, { ...dependent, workflows: ["second"] });
    expect(workflows).toMatchObject([{ outcome: "skipped", reason: { code: "merge_conflict" } }]);
    expect(workflows[0]!.reason!.message).toContain("does not pass the check");
    expect(await flow()).toMatchObject({ version: 4 });
  });

  it("leaves a workflow unpublished if what was live before no longer passes the check", async () => {
    const { ann, admin, key, input, flow, edit, instance } = await scene();
    await admin(createWorkflow, { name: "callee", definition: steps(set("x", 1)) });
    await admin(publishWorkflow, { workflow_id: "callee" });
    await edit(admin, steps({ id: "sub", type: "workflow", workflow: "callee" }));
    await admin(publishWorkflow, { workflow_id: "flow" });
    await edit(key, steps(set("a", 7)));
    await key(publishWorkflow, { workflow_id: "flow" });
    await instance.store.transaction((trx) =>
      trx.updateTable("workflows").set({ status: "archived" }).where("id", "=", "callee").execute(),
    );
    const dry = await ann(revertKeyChanges, { ...input, dry_run: true });
    const { workflows } = await ann(revertKeyChanges, input);
    expect(workflows).toMatchObject([{ outcome: "reverted", status: "draft", published_version: null }]);
    expect(workflows[0]!.effects.at(-1)).toContain(
      "it is not published: version 2 no longer passes the check",
    );
    expect(dry.workflows[0]!.effects).toEqual(workflows[0]!.effects);
    expect(await flow()).toMatchObject({ status: "draft", definition: { steps: [{ id: "sub" }] } });
  });

  it("reverts a caller and what it calls together, although neither fits the other's new version", async () => {
    const { ann, admin, key, input, edit } = await scene();
    await admin(createWorkflow, { name: "callee", definition: callee("before") });
    await admin(publishWorkflow, { workflow_id: "callee" });
    await admin(createWorkflow, { name: "caller", definition: caller("before") });
    await admin(publishWorkflow, { workflow_id: "caller" });
    const since = { ...input, since: input.since };
    await edit(key, callee("after"), "callee");
    await key(publishWorkflow, { workflow_id: "callee", break_callers: ["caller"] });
    await edit(key, caller("after"), "caller");
    await key(publishWorkflow, { workflow_id: "caller" });
    // One of them alone would break the other.
    const alone = await ann(revertKeyChanges, { ...since, workflows: ["callee"] });
    expect(alone.workflows).toMatchObject([{ outcome: "skipped", reason: { code: "callers_would_break" } }]);
    const both = await ann(revertKeyChanges, since);
    expect(
      both.workflows.map(({ workflow_id, outcome, published_version }) => [
        workflow_id,
        outcome,
        published_version,
      ]),
    ).toEqual([
      ["caller", "reverted", 1],
      ["callee", "reverted", 1],
    ]);
  });

  it("is announced as it happens, with all that it refuses", async () => {
    const { ann, admin, key, input, edit, instance } = await scene();
    // A version that no longer passes the check.
    await admin(createWorkflow, { name: "gone", definition: steps(set("x", 1)) });
    await admin(publishWorkflow, { workflow_id: "gone" });
    await edit(admin, steps({ id: "sub", type: "workflow", workflow: "gone" }));
    await admin(publishWorkflow, { workflow_id: "flow" });
    await edit(key, steps(set("a", 7)));
    await key(publishWorkflow, { workflow_id: "flow" });
    await instance.store.transaction((trx) =>
      trx.updateTable("workflows").set({ status: "archived" }).where("id", "=", "gone").execute(),
    );
    // A caller of somebody else that fits the version of the key.
    await admin(createWorkflow, { name: "callee", definition: callee("before") });
    await admin(publishWorkflow, { workflow_id: "callee" });
    await edit(key, callee("after"), "callee");
    await key(publishWorkflow, { workflow_id: "callee" });
    await admin(createWorkflow, { name: "caller", definition: caller("after") });
    await admin(publishWorkflow, { workflow_id: "caller" });
    // A consent that only an admin can give.
    const tool = { ...steps(set("a", 1)), expose_as_tool: true };
    await admin(createWorkflow, { name: "tool", definition: tool });
    await admin(publishWorkflow, { workflow_id: "tool" });
    await key(withdrawExposure, { workflow_id: "tool" });
    const announced = await ann(getKeyChanges, input);
    expect(await ann(revertKeyChanges, { ...input, dry_run: true })).toEqual(announced);
    expect(
      announced.workflows.map(({ workflow_id, outcome, reason }) => [workflow_id, outcome, reason?.code]),
    ).toEqual([
      ["tool", "skipped", "missing_scope"],
      ["callee", "skipped", "callers_would_break"],
      ["flow", "revertible", undefined],
    ]);
    expect(announced.workflows[2]!.effects.at(-1)).toContain("it is not published: version 2");
    const reverted = (await ann(revertKeyChanges, input)).workflows;
    expect(reverted.map(({ effects, reason }) => ({ effects, reason }))).toEqual(
      announced.workflows.map(({ effects, reason }) => ({ effects, reason })),
    );
  });

  it("takes nothing away from what others run, unless asked to", async () => {
    const { ann, admin, key, input } = await scene();
    const running = (workflow: string) => steps({ id: "sub", type: "workflow", workflow });
    await key(createWorkflow, { name: "made", definition: steps(set("x", 1)) });
    await key(publishWorkflow, { workflow_id: "made" });
    await key(createWorkflow, { name: "own", definition: running("made") });
    await key(publishWorkflow, { workflow_id: "own" });
    await admin(createWorkflow, { name: "user", definition: running("made") });
    await admin(publishWorkflow, { workflow_id: "user" });
    const announced = await ann(getKeyChanges, input);
    const refused = (await ann(revertKeyChanges, { ...input, workflows: ["made"] })).workflows;
    expect(announced.workflows).toMatchObject([
      { workflow_id: "own", outcome: "revertible" },
      { workflow_id: "made", outcome: "skipped", reason: { code: "callers_would_break" } },
    ]);
    // The caller that the key made itself is archived with it.
    expect(announced.workflows[1]!.reason!.message).toContain('break_callers: ["user"]');
    expect(refused[0]!.reason!.message).toContain('break_callers: ["own","user"]');
    const reverted = await ann(revertKeyChanges, { ...input, break_callers: ["user"] });
    expect(reverted.workflows.map(({ outcome, status }) => [outcome, status])).toEqual([
      ["reverted", "archived"],
      ["reverted", "archived"],
    ]);
  });

  it("puts consents back, which only an admin can give", async () => {
    const { ann, admin, key, input, edit } = await scene();
    await edit(admin, { ...steps(set("a", 1)), expose_as_tool: true });
    await admin(publishWorkflow, { workflow_id: "flow" });
    const before = await admin(getExposure, { workflow_id: "flow" });
    expect(before.state).toBe("allowed");
    await key(withdrawExposure, { workflow_id: "flow" });
    expect((await ann(revertKeyChanges, input)).workflows).toMatchObject([
      { outcome: "skipped", reason: { code: "missing_scope" } },
    ]);
    expect((await admin(revertKeyChanges, input)).workflows).toMatchObject([{ outcome: "reverted" }]);
    expect(await admin(getExposure, { workflow_id: "flow" })).toEqual(before);
    await key(withdrawExposure, { workflow_id: "flow" });
    await key(allowExposure, { workflow_id: "flow", digest: before.digest! });
    expect((await ann(getKeyChanges, input)).workflows[0]!.changes.map(({ change }) => change)).toEqual([
      "exposure_withdrawn",
      "exposure_allowed",
    ]);
  });

  it("ends the schedule of a workflow that the key created, and shows nothing of other projects", async () => {
    const { ann, admin, key, input, instance, record, clock } = await scene();
    const scheduled = { ...steps(set("a", 1)), schedule: { cron: "0 3 * * *" } };
    await key(createWorkflow, { name: "made", definition: scheduled });
    await key(publishWorkflow, { workflow_id: "made" });
    await admin(createProject, { id: "finance", name: "Finance" });
    await admin(createWorkflow, { name: "secret", project: "finance", definition: steps(set("a", 1)) });
    clock.advance(1_000);
    // The key belongs to two projects, and its owner is no longer a member of the other one.
    const everywhere = callAs(instance, { ...keyPrincipal(), keyName: "ci", lineage: record.lineage });
    await everywhere(updateWorkflow, { workflow_id: "finance.secret", description: "By the key" });
    await everywhere(runWorkflow, { workflow_id: "finance.secret", wait: 0 });
    const { principal } = await signedInUser(instance, { email: "eve@example.com", role: "editor" });
    const owner = callAs(instance, {
      ...principal,
      owner: "ann@example.com",
      access: { everywhere: null, projects: new Map([["default", principal.scopes]]), keyLimits: null },
    });
    const shown = await owner(getKeyChanges, input);
    expect(JSON.stringify(shown)).not.toContain("finance");
    expect(shown).toMatchObject({
      workflows: [{ workflow_id: "made" }],
      remaining: 0,
      already_reverted: 0,
      not_reverted: [],
      unseen: 2,
    });
    await expect(owner(revertKeyChanges, { ...input, workflows: ["finance.secret"] })).rejects.toMatchObject({
      code: "invalid_input",
    });
    expect((await owner(revertKeyChanges, input)).workflows).toMatchObject([
      { workflow_id: "made", outcome: "reverted", status: "archived" },
    ]);
    expect((await admin(listSchedules)).items).toEqual([]);
    expect(await admin(getWorkflow, { workflow_id: "finance.secret" })).toMatchObject({ version: 2 });
    expect((await admin(getKeyChanges, input)).workflows).toMatchObject([
      { workflow_id: "finance.secret", project: "finance", outcome: "revertible" },
    ]);
    expect(await ann(getKeyChanges, { ...input, client: "nobody" })).toMatchObject({ workflows: [] });
  });

  it("counts what can't be reverted, and names the programs", async () => {
    const { ann, key, input, record, keyOf } = await scene();
    await key(runWorkflow, { workflow_id: "flow", wait: 0 });
    await key(runWorkflow, { workflow_id: "flow", wait: 0 });
    expect(await ann(getKeyChanges, input)).toMatchObject({
      workflows: [],
      clients: ["agent"],
      not_reverted: [{ operation: "run_workflow", count: 2 }],
    });
    expect(await ann(getKeyChanges, { ...input, client: "other" })).toMatchObject({
      clients: ["agent"],
      not_reverted: [],
    });
    await expect(keyOf(record)(getKeyChanges, input)).rejects.toMatchObject({ code: "person_needed" });
  });

  it("matches changes of older releases by name, and does not guess what was published before them", async () => {
    const { ann, admin, key, input, edit, instance, flow } = await scene();
    await edit(key, steps(set("a", 2)));
    await admin(createWorkflow, { name: "live", definition: steps(set("a", 1)) });
    await edit(key, steps(set("a", 2)), "live");
    await key(publishWorkflow, { workflow_id: "live" });
    await instance.store.transaction((trx) =>
      trx.updateTable("audit_log").set({ lineage: null, details: null, hash: null }).execute(),
    );
    const found = await ann(getKeyChanges, input);
    expect(found.attribution).toBe("name");
    const { workflows } = await ann(revertKeyChanges, input);
    expect(workflows.map(({ workflow_id, outcome, reason }) => [workflow_id, outcome, reason?.code])).toEqual(
      [
        ["live", "skipped", "not_recorded"],
        ["flow", "reverted", undefined],
      ],
    );
    expect(await flow()).toMatchObject({ definition: steps(set("a", 1), set("b", 1)) });
    expect((await ann(revertKeyChanges, input)).workflows).toHaveLength(1);
  });
});
