/** What the report of a key's changes shows, and a revert does, beyond the versions of workflows. */
import { describe, expect, it } from "vitest";
import type { AuditDetails } from "../../src/core/account-ports.ts";
import { iso } from "../../src/core/clock.ts";
import {
  RECORDED_OF_RUNS,
  RECORDED_OPERATIONS,
  recordedOperation,
} from "../../src/core/recorded-operations.ts";
import type { Principal } from "../../src/core/ports.ts";
import { isNothing } from "../../schemas/key-change-words.ts";
import { catalogue } from "../../tools/index.ts";
import { getKeyChanges } from "../../tools/key-changes/get-key-changes.ts";
import { revertKeyChanges } from "../../tools/key-changes/revert-key-changes.ts";
import { createSubscription } from "../../tools/subscriptions/create-subscription.ts";
import { deleteSubscription } from "../../tools/subscriptions/delete-subscription.ts";
import { getSubscription } from "../../tools/subscriptions/get-subscription.ts";
import { listSubscriptions } from "../../tools/subscriptions/list-subscriptions.ts";
import { rotateSubscriptionSecret } from "../../tools/subscriptions/rotate-subscription-secret.ts";
import { testSubscription } from "../../tools/subscriptions/test-subscription.ts";
import { updateSubscription } from "../../tools/subscriptions/update-subscription.ts";
import { getTriggers } from "../../tools/triggers/get-triggers.ts";
import { rotateTrigger } from "../../tools/triggers/rotate-trigger.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { addGrant } from "../../tools/projects/add-grant.ts";
import { archiveWorkflow } from "../../tools/workflows/archive-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { getOffer } from "../../tools/workflows/get-offer.ts";
import { offerWorkflow } from "../../tools/workflows/offer-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { restoreWorkflow } from "../../tools/workflows/restore-workflow.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { addProject } from "../support/projects.ts";
import { callAs, keyPrincipal, signedInUser } from "../support/users.ts";

const SET = { id: "a", type: "set", values: { x: 1 } };
const HOOK = { steps: [SET], triggers: [{ id: "hook", type: "webhook" }] };
const ALERTS = { name: "Alerts", url: "https://example.com/hook", events: ["run.failed"] };

/** An admin, Ann, who is an editor, with a key that can do everything, and two more projects. */
async function scene() {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  for (const project of ["sales", "legal"]) await addProject(instance, project, { httpPublic: "list" });
  const { principal: annPrincipal } = await signedInUser(instance, { email: "ann@example.com" });
  const { principal: adminPrincipal } = await signedInUser(instance, {
    email: "root@example.com",
    role: "admin",
  });
  const { record } = await instance.key({ owner: "ann@example.com", name: "ci" });
  const principal: Principal = {
    ...keyPrincipal(undefined, "ann@example.com"),
    keyId: record.id,
    keyName: "ci",
    lineage: record.lineage,
  };
  const key = callAs(instance, principal, { surface: "mcp", name: "agent" });
  const [ann, admin] = [callAs(instance, annPrincipal), callAs(instance, adminPrincipal)];
  await admin(createWorkflow, { name: "flow", definition: HOOK });
  await admin(publishWorkflow, { workflow_id: "flow" });
  const alerts = await admin(createSubscription, ALERTS);
  clock.advance(1_000);
  const input = { key_id: record.id, since: iso(clock.now()) };
  /** An entry of the key as another release wrote it. */
  const writeEntry = (operation: string, target: string, details?: AuditDetails) =>
    instance.write(
      { operation, actor: { principal, client: { surface: "mcp", name: "agent" } }, requestId: "req_1" },
      (tx) => tx.recordAudit(target, undefined, details && { details }),
    );
  return { instance, clock, adminPrincipal, ann, admin, key, input, alerts, write: writeEntry };
}

describe("the table of recorded operations", () => {
  it("has an entry for every operation that writes, and none for others", () => {
    const known = new Map(catalogue.map((tool) => [tool.name, tool]));
    const writing = catalogue.filter(({ effect }) => effect !== "read").map(({ name }) => name);
    expect(writing.filter((name) => !Object.hasOwn(RECORDED_OPERATIONS, name))).toEqual([]);
    const stale = Object.keys(RECORDED_OPERATIONS).filter((name) => !known.has(name.split(".")[0]!));
    expect(stale).toEqual([]);
  });

  it("has words for every entry that a key can leave, also of other releases, and none goes unmentioned", async () => {
    const { ann, clock, input, write } = await scene();
    const names = [
      ...Object.keys(RECORDED_OPERATIONS),
      ...Object.keys(RECORDED_OF_RUNS),
      "set_project_member.role_admin",
      "get_run.read",
      "an_operation_of_another_release",
    ];
    const silent: string[] = [];
    for (const name of names) {
      clock.advance(1_000);
      const since = iso(clock.now());
      await write(name, "somewhere");
      const found = await ann(getKeyChanges, { ...input, since });
      const { label, remains } = recordedOperation(name);
      if (isNothing(found) || label === "" || remains === "") silent.push(name);
    }
    expect(silent).toEqual([]);
  });
});

describe("get_key_changes", () => {
  it("lists what a revert does nothing about, with its targets, what stays in force, and what to do", async () => {
    const { ann, admin, key, input, alerts, clock } = await scene();
    await key(addGrant, { project: "sales", kind: "host", name: "api.example.com" });
    clock.advance(1_000);
    await key(testSubscription, { subscription_id: alerts.id });
    const found = await admin(getKeyChanges, input);
    expect(found).toMatchObject({ workflows: [], subscriptions: [], triggers: [], unseen: 0 });
    expect(found.not_reverted).toMatchObject([
      { operation: "test_subscription", count: 1, targets: [alerts.id] },
      {
        operation: "add_grant",
        label: "granted projects the use of connections",
        project: "sales",
        count: 1,
        targets: ["host:api.example.com"],
        remains: expect.stringContaining("remove_grant") as string,
      },
    ]);
    // The owner of the key is no member of the other project.
    const seen = await ann(getKeyChanges, input);
    expect(seen).toMatchObject({ unseen: 1, not_reverted: [{ operation: "test_subscription" }] });
    expect(JSON.stringify(seen)).not.toContain("sales");
    expect(await admin(getKeyChanges, { ...input, client: "nobody" })).toMatchObject({ not_reverted: [] });
  });

  it("lists the workflows whose state the runs of the key have changed, and no other runs", async () => {
    const { instance, ann, admin, key, input, clock } = await scene();
    const { queue } = await instance.executor();
    const count = { type: "integer", default: 0 };
    const definition = { state: { count }, steps: [SET], commit: { count: "${{ state.count + 1 }}" } };
    for (const name of ["Counts", "Sums"]) await admin(createWorkflow, { name, definition });
    const started = async (by: typeof ann, workflow_id: string) => {
      clock.advance(1_000);
      await by(runWorkflow, { workflow_id, inputs: {}, wait: 0 });
      queue.wake();
      await queue.waitUntilIdle();
    };
    await started(key, "sums");
    clock.advance(1_000);
    const since = iso(clock.now());
    await started(admin, "sums");
    for (const _ of [1, 2]) await started(key, "counts");
    const found = await ann(getKeyChanges, { ...input, since });
    expect(found.not_reverted.filter(({ operation }) => operation === "commit_state")).toEqual([
      {
        operation: "commit_state",
        label: "started runs, of those that are still kept, that changed the state of workflows",
        count: 2,
        first_at: expect.any(String),
        last_at: iso(clock.now()),
        targets: ["counts"],
        remains: expect.stringContaining("set_workflow_state") as string,
      },
    ]);
  });
});

describe("a revert of offers", () => {
  it("takes an offer of the key back, and gives one back that it took", async () => {
    const { ann, admin, key, input } = await scene();
    const workflow_id = "flow";
    await key(offerWorkflow, { workflow_id, projects: ["sales"] });
    await key(offerWorkflow, { workflow_id, projects: ["*"] });
    expect((await ann(getKeyChanges, input)).workflows).toMatchObject([
      {
        workflow_id,
        changes: [{ change: "offered", count: 2 }],
        outcome: "revertible",
        effects: ["it is not offered to other projects any more"],
      },
    ]);
    expect((await ann(revertKeyChanges, input)).workflows).toMatchObject([{ outcome: "reverted" }]);
    expect(await admin(getOffer, { workflow_id })).toMatchObject({ projects: [] });
    expect(await ann(revertKeyChanges, input)).toMatchObject({ workflows: [], already_reverted: 1 });

    await admin(offerWorkflow, { workflow_id, projects: ["legal", "sales"] });
    await key(offerWorkflow, { workflow_id, projects: ["legal"] });
    // To offer needs the scope admin, and so does a revert that offers.
    expect((await ann(revertKeyChanges, input)).workflows).toMatchObject([
      { outcome: "skipped", reason: { code: "missing_scope" } },
    ]);
    expect((await admin(revertKeyChanges, input)).workflows).toMatchObject([
      {
        outcome: "reverted",
        effects: ["it is offered to legal, sales, as before, and to no other project"],
      },
    ]);
    expect(await admin(getOffer, { workflow_id })).toMatchObject({ projects: ["legal", "sales"] });
  });

  it("leaves an offer alone that somebody else changed afterwards, and callers whole", async () => {
    const { admin, key, input } = await scene();
    const workflow_id = "flow";
    await key(offerWorkflow, { workflow_id, projects: ["sales"] });
    const definition = { steps: [{ id: "sub", type: "workflow", workflow: "flow" }] };
    await admin(createWorkflow, { name: "caller", project: "sales", definition });
    await admin(publishWorkflow, { workflow_id: "sales.caller" });
    expect((await admin(revertKeyChanges, input)).workflows).toMatchObject([
      { outcome: "skipped", reason: { code: "callers_would_break" } },
    ]);
    const allowed = { ...input, break_callers: ["sales.caller"] };
    expect((await admin(revertKeyChanges, { ...allowed, dry_run: true })).workflows).toMatchObject([
      { outcome: "revertible" },
    ]);
    await admin(offerWorkflow, { workflow_id, projects: ["sales", "legal"] });
    expect((await admin(revertKeyChanges, allowed)).workflows).toMatchObject([
      { outcome: "skipped", reason: { code: "changed_since" } },
    ]);
    expect(await admin(getOffer, { workflow_id })).toMatchObject({ projects: ["legal", "sales"] });
  });

  it("leaves no offer on a workflow that the key created, so that none comes back with it", async () => {
    const { ann, admin, key, input } = await scene();
    await key(createWorkflow, { name: "made", definition: { steps: [SET] } });
    await key(publishWorkflow, { workflow_id: "made" });
    await key(offerWorkflow, { workflow_id: "made", projects: ["*"] });
    expect((await ann(revertKeyChanges, input)).workflows).toMatchObject([
      { outcome: "reverted", status: "archived" },
    ]);
    await admin(restoreWorkflow, { workflow_id: "made" });
    expect(await admin(getOffer, { workflow_id: "made" })).toMatchObject({ projects: [] });
  });

  it("lists an offer that an older release recorded without the one before", async () => {
    const { ann, input, write } = await scene();
    await write("offer_workflow", "flow");
    expect((await ann(getKeyChanges, input)).not_reverted).toMatchObject([
      {
        operation: "offer_workflow",
        targets: ["flow"],
        remains: expect.stringContaining("get_offer") as string,
      },
    ]);
  });
});

describe("a revert of triggers", () => {
  const hook = { workflow_id: "flow", trigger: "hook" };

  it("lists a URL that the key replaced and knows, until it is replaced again, which a revert does if asked to", async () => {
    const { ann, admin, key, input, clock } = await scene();
    await key(rotateTrigger, hook);
    clock.advance(1_000);
    const urlOf = async () => (await admin(getTriggers, { workflow_id: "flow" })).items[0]!.url;
    const seen = await urlOf();
    const found = await ann(revertKeyChanges, input);
    expect(found.triggers).toMatchObject([
      { ...hook, count: 1, outcome: "in_force", remains: [expect.stringContaining("rotate_trigger")] },
    ]);
    expect(await urlOf()).toBe(seen);
    const replaced = await ann(revertKeyChanges, { ...input, rotate_triggers: true });
    expect(replaced.triggers).toMatchObject([{ outcome: "reverted", remains: [] }]);
    expect(await urlOf()).not.toBe(seen);
    const again = await urlOf();
    expect((await ann(revertKeyChanges, { ...input, rotate_triggers: true })).triggers).toMatchObject([
      { outcome: "unchanged", remains: [] },
    ]);
    expect(await urlOf()).toBe(again);
  });

  it("replaces the URL also of a workflow that is not published now, which keeps it for the next time", async () => {
    const { ann, admin, key, input, clock } = await scene();
    const { url } = await key(rotateTrigger, hook);
    await admin(archiveWorkflow, { workflow_id: "flow" });
    clock.advance(1_000);
    expect((await ann(revertKeyChanges, { ...input, rotate_triggers: true })).triggers).toMatchObject([
      { outcome: "reverted" },
    ]);
    await admin(restoreWorkflow, { workflow_id: "flow" });
    await admin(publishWorkflow, { workflow_id: "flow" });
    expect((await admin(getTriggers, { workflow_id: "flow" })).items[0]!.url).not.toBe(url);
  });
});

describe("a revert of subscriptions", () => {
  it("deletes those that the key created", async () => {
    const { ann, admin, key, input, alerts } = await scene();
    const { id } = await key(createSubscription, { ...ALERTS, name: "Leak", include_values: true });
    expect((await ann(revertKeyChanges, input)).subscriptions).toMatchObject([
      { subscription_id: id, outcome: "skipped", reason: { code: "missing_scope" } },
    ]);
    expect((await admin(getKeyChanges, input)).subscriptions).toMatchObject([
      {
        subscription_id: id,
        name: "Leak",
        changes: [{ operation: "create_subscription", count: 1 }],
        outcome: "revertible",
        effects: ["it is deleted, because the key created it"],
        remains: [],
      },
    ]);
    expect((await admin(revertKeyChanges, input)).subscriptions).toMatchObject([{ outcome: "reverted" }]);
    expect((await admin(listSubscriptions)).items).toMatchObject([{ id: alerts.id }]);
    expect(await admin(revertKeyChanges, input)).toMatchObject({ subscriptions: [], already_reverted: 1 });
  });

  it("sets the URL, the values, the filters and the pause back", async () => {
    const { admin, key, input, alerts } = await scene();
    const subscription_id = alerts.id;
    await key(updateSubscription, {
      subscription_id,
      url: "https://evil.example/hook",
      include_values: true,
    });
    await key(updateSubscription, {
      subscription_id,
      url: "https://evil.example/other",
      workflows: ["flow"],
    });
    await key(updateSubscription, { subscription_id, paused: true });
    const reverted = await admin(revertKeyChanges, input);
    expect(reverted.subscriptions).toMatchObject([
      {
        outcome: "reverted",
        effects: [
          "it delivers to https://example.com/hook again",
          "which workflows it is about is as before",
          "it delivers no values of runs any more",
          "it is resumed",
        ],
        remains: [],
      },
    ]);
    expect(await admin(getSubscription, { subscription_id })).toMatchObject({
      url: ALERTS.url,
      workflows: null,
      include_values: false,
      paused_at: null,
    });
    expect(await admin(revertKeyChanges, input)).toMatchObject({ subscriptions: [], already_reverted: 1 });
  });

  it("skips one that somebody else changed afterwards, and takes only the key's part out when asked to", async () => {
    const { admin, key, input, alerts } = await scene();
    const subscription_id = alerts.id;
    await key(updateSubscription, { subscription_id, url: "https://evil.example/hook", name: "Mine" });
    await admin(updateSubscription, { subscription_id, name: "Ours" });
    expect((await admin(revertKeyChanges, input)).subscriptions).toMatchObject([
      {
        outcome: "skipped",
        reason: { code: "changed_since", message: expect.stringContaining("root@example.com") as string },
        remains: [expect.stringContaining("get_subscription")],
      },
    ]);
    const later = await admin(revertKeyChanges, { ...input, include_later: true });
    expect(later.subscriptions).toMatchObject([{ outcome: "reverted" }]);
    expect(later.subscriptions[0]!.effects).toContain("its name stays, because others changed it afterwards");
    expect(await admin(getSubscription, { subscription_id })).toMatchObject({
      url: ALERTS.url,
      name: "Ours",
    });
  });

  it("skips one that changes while the revert runs", async () => {
    const { instance, adminPrincipal, admin, key, input, alerts } = await scene();
    const subscription_id = alerts.id;
    await key(updateSubscription, { subscription_id, url: "https://evil.example/hook" });
    let isChanged = false;
    const write: typeof instance.services.write = async (intent, effect) => {
      if (!isChanged) {
        isChanged = true;
        await admin(updateSubscription, { subscription_id, name: "Ours" });
      }
      return instance.services.write(intent, effect);
    };
    const racing = callAs({ services: { ...instance.services, write } }, adminPrincipal);
    expect((await racing(revertKeyChanges, input)).subscriptions).toMatchObject([
      { outcome: "skipped", reason: { code: "changed_meanwhile" }, effects: [] },
    ]);
    expect(await admin(getSubscription, { subscription_id })).toMatchObject({ name: "Ours" });
  });

  it("lists a signing secret that the key has seen until somebody replaces it", async () => {
    const { admin, key, input, alerts } = await scene();
    const subscription_id = alerts.id;
    await key(rotateSubscriptionSecret, { subscription_id, overlap: "0s" });
    await key(updateSubscription, { subscription_id, include_values: true });
    const secret = [expect.stringContaining("rotate_subscription_secret")];
    expect((await admin(revertKeyChanges, input)).subscriptions).toMatchObject([
      { outcome: "reverted", remains: secret },
    ]);
    expect((await admin(getKeyChanges, input)).subscriptions).toMatchObject([
      {
        changes: [{ operation: "rotate_subscription_secret", label: "replaced the signing secret" }],
        outcome: "in_force",
        remains: secret,
      },
    ]);
    await admin(rotateSubscriptionSecret, { subscription_id, overlap: "0s" });
    expect(await admin(getKeyChanges, input)).toMatchObject({ subscriptions: [], already_reverted: 1 });
  });

  it("says what is gone with one that the key deleted, and nothing of one that others deleted", async () => {
    const { admin, key, input, alerts } = await scene();
    const { id } = await key(createSubscription, { ...ALERTS, name: "Leak" });
    await admin(deleteSubscription, { subscription_id: id });
    await key(deleteSubscription, { subscription_id: alerts.id });
    expect((await admin(revertKeyChanges, input)).subscriptions).toMatchObject([
      {
        subscription_id: alerts.id,
        name: "Alerts",
        outcome: "in_force",
        remains: [expect.stringContaining("create_subscription")],
      },
      { subscription_id: id, name: "Leak", outcome: "unchanged", remains: [] },
    ]);
  });

  it("pauses one whose values before are not on record, or are not allowed any more", async () => {
    const { instance, admin, key, input, alerts, write } = await scene();
    await write("update_subscription", alerts.id, { changed: ["url"] });
    const other = await admin(createSubscription, { ...ALERTS, name: "Other" });
    const forbidden = { url: "http://127.0.0.1/" };
    await instance.write(
      {
        operation: "update_subscription",
        actor: { principal: keyPrincipal(), client: { surface: "rest", name: "vitest" } },
        requestId: "req_2",
      },
      (tx) => tx.subscriptions.update(other.id, forbidden),
    );
    await key(updateSubscription, { subscription_id: other.id, url: "https://evil.example/hook" });
    const { subscriptions } = await admin(revertKeyChanges, input);
    expect(subscriptions.map(({ outcome, effects }) => [outcome, effects[0]!.split(":")[0]])).toEqual([
      ["reverted", "it is paused, because where it delivered to before is not allowed now"],
      ["reverted", "it is paused, because an older release did not record what was there before"],
    ]);
    for (const subscription_id of [alerts.id, other.id])
      expect((await admin(getSubscription, { subscription_id })).paused_at).not.toBeNull();
  });

  it("is limited to what the request names", async () => {
    const { admin, key, input } = await scene();
    const { id } = await key(createSubscription, { ...ALERTS, name: "Leak" });
    await key(createWorkflow, { name: "made", definition: { steps: [SET] } });
    await key(rotateTrigger, { workflow_id: "flow", trigger: "hook" });
    const named = async (selection: object) => {
      const found = await admin(revertKeyChanges, { ...input, ...selection, dry_run: true });
      const { workflows, subscriptions, triggers } = found;
      return [workflows.length, subscriptions.length, triggers.length];
    };
    expect(await named({})).toEqual([1, 1, 1]);
    expect(await named({ workflows: ["made"] })).toEqual([1, 0, 0]);
    expect(await named({ workflows: ["flow"] })).toEqual([0, 0, 1]);
    expect(await named({ subscriptions: [id] })).toEqual([0, 1, 0]);
    await expect(named({ subscriptions: ["sub_other"] })).rejects.toMatchObject({ code: "invalid_input" });
  });
});
