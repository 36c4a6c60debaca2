/** In a project with review, what a key or an author publishes waits for another person, who decides on exactly that. */
import { describe, expect, it } from "vitest";
import { Scope } from "../../schemas/actor.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { Principal } from "../../src/core/ports.ts";
import { projectWriter } from "../../src/store/projects.ts";
import { reviewWriter } from "../../src/store/reviews.ts";
import { saveWebAddress } from "../../src/store/settings.ts";
import { getReview } from "../../tools/reviews/get-review.ts";
import { decideReview } from "../../tools/reviews/decide-review.ts";
import { listReviews } from "../../tools/reviews/list-reviews.ts";
import { updateProject } from "../../tools/projects/update-project.ts";
import { withdrawReview } from "../../tools/reviews/withdraw-review.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { archiveWorkflow } from "../../tools/workflows/archive-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { getExposure } from "../../tools/workflows/get-exposure.ts";
import { getWorkflow } from "../../tools/workflows/get-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { restoreWorkflow } from "../../tools/workflows/restore-workflow.ts";
import { unpublishWorkflow } from "../../tools/workflows/unpublish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal, signedInUser } from "../support/users.ts";

const say = (x: unknown) => ({ steps: [{ id: "say", type: "set", values: { x } }] });
const call = (workflow: string) => ({ steps: [{ id: "sub", type: "workflow", workflow }] });

type Caller = ReturnType<typeof callAs>;

const create = (by: Caller, name: string, definition: object) => by(createWorkflow, { name, definition });
const update = (by: Caller, id: string, definition: object) =>
  by(updateWorkflow, { workflow_id: id, definition });
const publish = (by: Caller, id: string, more: object = {}) =>
  by(publishWorkflow, { workflow_id: id, ...more });

/** Four people who can do the same, a key of ann, and the operator; the default project needs reviews. */
async function team({ review = true, config = {} }: { review?: boolean; config?: object } = {}) {
  const clock = fakeClock();
  const instance = await testInstance({ clock, config });
  const setReview = (on: boolean) =>
    instance.store.transaction((trx) => projectWriter(trx).update(DEFAULT_PROJECT, { review: on }));
  if (review) await setReview(true);
  const person = async (name: string, role: "viewer" | "editor" | "admin" = "editor") =>
    callAs(instance, (await signedInUser(instance, { email: `${name}@example.com`, role })).principal);
  const key = (owner: string, more: Partial<Principal> = {}) =>
    callAs(instance, { ...keyPrincipal(Scope.options, owner), keyName: "agent", ...more });
  const [ann, ben, cid] = [await person("ann"), await person("ben"), await person("cid")];
  const read = (id: string, by = ben) => by(getReview, { review_id: id });
  const approve = async (by: Caller, id: string, digest?: string) =>
    by(decideReview, {
      review_id: id,
      decision: "approve",
      digest: digest ?? (await read(id)).digest,
    });
  const published = async (id: string) => (await ben(getWorkflow, { workflow_id: id })).published_version;
  return {
    instance,
    clock,
    setReview,
    person,
    key,
    agent: key("ann@example.com"),
    operator: callAs(instance, OPERATOR_ACTOR.principal),
    ann,
    ben,
    cid,
    read,
    approve,
    published,
  };
}

type Team = Awaited<ReturnType<typeof team>>;

/** A workflow of which ben has published version 1 by ann's request, and the pending request for ann's version 2. */
async function pending({ agent, ben, approve }: Team) {
  await create(agent, "Report", say(1));
  await approve(ben, (await publish(agent, "report")).review!.id);
  await update(agent, "report", say(2));
  return (await publish(agent, "report", { reason: "Net figures" })).review!.id;
}

const codeOf = async (outcome: Promise<unknown>): Promise<string> =>
  outcome.then(
    () => "ok",
    (error: { code?: string; message?: string }) => error.code ?? error.message ?? "no error",
  );

describe("get_review", () => {
  it("shows in the plan no steps of workflows that a key of some workflows can't see", async () => {
    const { agent, ben, approve, key } = await team();
    await create(agent, "Hidden", say(1));
    await approve(ben, (await publish(agent, "hidden")).review!.id);
    await create(agent, "Report", call("hidden"));
    const { id } = (await publish(agent, "report")).review!;
    const { access } = keyPrincipal(["read"]);
    const limited = key("ben@example.com", { access: { ...access, keyLimits: { workflows: ["report"] } } });
    const shown = await limited(getReview, { review_id: id });
    expect(shown.plan!.workflows).toMatchObject([
      { workflow_id: "report", steps: [{ id: "sub" }] },
      { workflow_id: "hidden", foreign: true, steps: [] },
    ]);
    const whole = await ben(getReview, { review_id: id });
    expect(whole.plan!.workflows[1]!.steps).toHaveLength(1);
    expect(shown.digest).toBe(whole.digest);
  });
});

describe("publish_workflow in a project with review", () => {
  it("names the page at the address that the web server listens at, also in other processes", async () => {
    const { instance, agent } = await team();
    await saveWebAddress(instance.store, "http://127.0.0.1:4720");
    await create(agent, "Report", say(1));
    const { id, url, detail } = (await publish(agent, "report")).review!;
    expect(url).toBe(`http://127.0.0.1:4720/ui/reviews/${id}`);
    expect(detail).toContain(url);
  });

  it("makes a change request for a key, and tells it what happens next", async () => {
    const { agent, published, read } = await team();
    await create(agent, "Report", say(1));
    const answer = await publish(agent, "report", { reason: "Net figures" });
    expect(answer).toMatchObject({ id: "report", status: "draft", published_version: null, version: 1 });
    const { id, url, detail } = answer.review!;
    expect(url).toBe(`http://127.0.0.1:3000/ui/reviews/${id}`);
    expect(detail).toContain("Nothing was published");
    expect(detail).toContain(`GET /reviews/${id}`);
    expect(await published("report")).toBeNull();
    expect(await read(id)).toMatchObject({
      status: "pending",
      workflow_id: "report",
      version: 1,
      base_version: null,
      reason: "Net figures",
      requested_by: "ann@example.com",
      key_name: "agent",
      changed: false,
      decidable: { by_you: true },
    });
  });

  it.each<[string, (team: Team) => Caller, string]>([
    ["the author", ({ ann }) => ann, "asks"],
    ["a key of the author", ({ agent }) => agent, "asks"],
    ["a key of another person", ({ key }) => key("ben@example.com"), "asks"],
    ["a key of the operator", ({ key }) => key("operator"), "asks"],
    ["another person", ({ ben }) => ben, "publishes"],
    ["the operator at the command line", ({ operator }) => operator, "publishes"],
  ])("%s", async (_who, by, expected) => {
    const here = await team();
    await create(here.ann, "Report", say(1));
    const answer = await publish(by(here), "report");
    expect(answer.review === undefined ? "publishes" : "asks").toBe(expected);
    expect(await here.published("report")).toBe(expected === "asks" ? null : 1);
  });

  it("keeps the newest reason: of the one who asked in the same request, of another in a new one", async () => {
    const { agent, key, ann, read, instance } = await team();
    await create(agent, "Report", say(1));
    const { id, url } = (await publish(agent, "report", { reason: "Net figures" })).review!;
    const before = await read(id);
    expect((await publish(agent, "report")).review).toMatchObject({ id, url });
    expect((await read(id)).reason).toBe("Net figures");
    const again = await publish(ann, "report", { reason: "Net figures, as sales asked" });
    expect(again.review).toMatchObject({ id, url, status: "pending" });
    expect(await read(id)).toEqual({ ...before, reason: "Net figures, as sales asked" });
    const other = await publish(key("ben@example.com"), "report", { reason: "For the audit" });
    expect(other.review!.id).not.toBe(id);
    expect(await read(id)).toMatchObject({ status: "replaced", reason: "Net figures, as sales asked" });
    expect(await read(other.review!.id)).toMatchObject({
      status: "pending",
      reason: "For the audit",
      requested_by: "ben@example.com",
    });
    const entries = await instance.read.audit.page({ filter: {}, before: null, limit: 20 });
    expect(
      entries.map(({ operation }) => operation).filter((name) => name.includes("review_reason")),
    ).toEqual(["publish_workflow.review_reason_changed"]);
  });

  it("leaves the reason of a request that is no longer pending", async () => {
    const here = await team();
    const id = await pending(here);
    await here.approve(here.ben, id);
    const change = here.instance.store.transaction((trx) => reviewWriter(trx).setReason(id, "Other"));
    expect(await change).toBe(false);
    expect((await here.read(id)).reason).toBe("Net figures");
  });

  it("makes a change request for who wrote any version since the published one", async () => {
    const { ann, ben, cid, published } = await team();
    await create(ann, "Report", say(1));
    await publish(ben, "report");
    await update(ben, "report", say(2));
    await update(cid, "report", say(3));
    expect((await publish(ben, "report")).review).toBeDefined();
    expect((await publish(cid, "report")).review).toBeDefined();
    expect(await published("report")).toBe(1);
    expect((await publish(ann, "report")).review).toBeUndefined();
    expect(await published("report")).toBe(3);
  });

  it("lets persons publish a reviewed version again, but no key", async () => {
    const here = await team();
    const { agent, ann, ben, approve, published } = here;
    await approve(ben, await pending(here));
    expect((await publish(agent, "report", { version: 1 })).review).toBeDefined();
    expect(await published("report")).toBe(2);
    expect((await publish(ann, "report", { version: 1 })).review).toBeUndefined();
    expect(await published("report")).toBe(1);
  });

  it("makes a change request for a version that only its author has published, before reviews were needed", async () => {
    const { ann, ben, published, setReview } = await team({ review: false });
    await create(ann, "Report", say(1));
    await publish(ann, "report");
    await update(ann, "report", say(2));
    await setReview(true);
    await publish(ben, "report");
    expect((await publish(ann, "report", { version: 1 })).review).toBeDefined();
    expect(await published("report")).toBe(2);
  });

  it("returns the same request when it is asked again, and replaces it for another version", async () => {
    const { agent, read } = await team();
    await create(agent, "Report", say(1));
    const first = await publish(agent, "report");
    expect((await publish(agent, "report")).review!.id).toBe(first.review!.id);
    await update(agent, "report", say(2));
    const second = await publish(agent, "report");
    expect(second.review!.id).not.toBe(first.review!.id);
    expect((await read(first.review!.id)).status).toBe("replaced");
    expect((await read(second.review!.id)).status).toBe("pending");
  });

  it("refuses what could not be published, and makes no request", async () => {
    const { agent, ben } = await team();
    await create(agent, "Faulty", { steps: [{ id: "a", type: "sett" }] });
    expect(await codeOf(publish(agent, "faulty"))).toBe("workflow_not_runnable");
    expect((await ben(listReviews)).total).toBe(0);
  });

  it("publishes as before in a project without review", async () => {
    const { agent, published } = await team({ review: false });
    await create(agent, "Report", say(1));
    expect((await publish(agent, "report")).review).toBeUndefined();
    expect(await published("report")).toBe(1);
  });
});

describe("a change request", () => {
  it("shows the difference, the plan in words and the examples", async () => {
    const here = await team();
    const { instance, agent, approve, ben, read } = here;
    const { queue } = await instance.executor();
    await create(agent, "Child", say(7));
    await approve(ben, (await publish(agent, "child")).review!.id);
    await create(agent, "Report", say(1));
    await approve(ben, (await publish(agent, "report")).review!.id);
    await update(agent, "report", {
      state: { last: { type: "integer", default: 0 } },
      steps: [
        { id: "say", type: "set", values: { x: 2 } },
        { id: "sub", type: "workflow", workflow: "child", if: "steps.say.x > 1" },
        { id: "get", type: "http", method: "POST", url: "https://example.com/hook", if: "false" },
      ],
      commit: { last: "${{ steps.say.x }}" },
      output: { x: "${{ steps.say.x }}" },
      schedule: { cron: "0 7 * * 1", timezone: "Europe/Berlin" },
      expose_as_tool: true,
      examples: [{ name: "one", inputs: {}, expect: { x: 2 } }],
    });
    const asked = publish(agent, "report");
    queue.wake();
    const review = await read((await asked).review!.id);
    expect(review).toMatchObject({ base_version: 1, compared_with: 1, changed: false });
    expect(review.difference).toContain("-      x: 1\n+      x: 2\n");
    expect(review.plan).toMatchObject({
      workflows: [
        {
          workflow_id: "report",
          version: 2,
          role: "reviewed",
          steps: [
            { id: "say" },
            { id: "sub", if: "steps.say.x > 1" },
            { id: "get", effect: "Sends POST to example.com" },
          ],
        },
        { workflow_id: "child", version: 1, role: "called", steps: [{ id: "say" }] },
      ],
      schedule: {
        cron: "0 7 * * 1",
        timezone: "Europe/Berlin",
        next_runs: expect.arrayContaining([expect.stringMatching(/T07:00:00\+0[12]:00$/)]),
      },
      tool: { effects: ["http POST https://example.com/hook", "saves workflow state"], read_only: false },
      saves_state: ["last"],
    });
    expect(review.examples).toMatchObject([{ name: "one", compared: true }]);
  });

  it("goes live with the approval: version, schedule of the requester, publication of the decider, audit", async () => {
    const here = await team();
    const { instance, agent, ben, approve, published } = here;
    await create(agent, "Report", { ...say(1), schedule: { cron: "0 7 * * 1", timezone: "UTC" } });
    const { id } = (await publish(agent, "report")).review!;
    expect(await instance.services.read.schedules.find("report")).toBeUndefined();
    expect(await approve(ben, id)).toMatchObject({ status: "approved", decided_by: "ben@example.com" });
    expect(await published("report")).toBe(1);
    expect(await instance.services.read.schedules.find("report")).toMatchObject({
      version: 1,
      actor: { owner: "ann@example.com", keyName: "agent" },
    });
    const { reviews } = await instance.services.read.workflows.authorship("report", 1);
    expect(reviews).toMatchObject([{ owner: "ben@example.com", version: 1 }]);
    const audit = await instance.store.read
      .selectFrom("audit_log")
      .select(["operation", "target", "owner"])
      .where("operation", "like", "%review%")
      .orderBy("id")
      .execute();
    expect(audit).toEqual([
      { operation: "publish_workflow.review_requested", target: "report", owner: "ann@example.com" },
      { operation: "decide_review", target: "report", owner: "ben@example.com" },
      { operation: "decide_review.approve", target: id, owner: "ben@example.com" },
    ]);
  });

  it("is not decided by who asked or wrote, nor by a key or a viewer", async () => {
    const here = await team();
    const { ann, cid, agent, key, person, read, approve, published } = here;
    const id = await pending(here);
    const { digest } = await read(id);
    expect(await codeOf(approve(agent, id, digest))).toBe("person_needed");
    expect(await codeOf(approve(key("ben@example.com"), id, digest))).toBe("person_needed");
    expect(await codeOf(approve(ann, id, digest))).toBe("review_not_yours");
    expect(await codeOf(approve(await person("vic", "viewer"), id, digest))).toBe("missing_scope");
    expect((await ann(getReview, { review_id: id })).decidable).toEqual({
      by_you: false,
      why_not: 'Your key "agent" asked for it.',
    });
    expect(await published("report")).toBe(1);
    expect(await codeOf(approve(cid, id, digest))).toBe("ok");
    expect(await published("report")).toBe(2);
  });

  it("is not decided by who wrote a part of it, also when a key of another person asked", async () => {
    const here = await team();
    const { ann, ben, cid, key, read, approve } = here;
    await create(ann, "Report", say(1));
    await update(cid, "report", say(2));
    const { id } = (await publish(key("operator"), "report")).review!;
    const { digest } = await read(id);
    expect(await codeOf(approve(ann, id, digest))).toBe("review_not_yours");
    expect(await codeOf(approve(cid, id, digest))).toBe("review_not_yours");
    expect(await codeOf(approve(ben, id, digest))).toBe("ok");
  });

  it("is not decided by the owner of the key that asked, who wrote nothing", async () => {
    const { ann, ben, cid, key, read, approve } = await team();
    await create(ann, "Report", say(1));
    const { id } = (await publish(key("ben@example.com"), "report")).review!;
    const { digest } = await read(id, cid);
    expect(await codeOf(approve(ben, id, digest))).toBe("review_not_yours");
    expect(await codeOf(approve(cid, id, digest))).toBe("ok");
  });

  it("needs the digest to be approved, and a comment to be rejected", async () => {
    const here = await team();
    const { ben, published } = here;
    const id = await pending(here);
    expect(await codeOf(ben(decideReview, { review_id: id, decision: "approve" }))).toBe("invalid_input");
    expect(await codeOf(ben(decideReview, { review_id: id, decision: "reject" }))).toBe("invalid_input");
    expect(await codeOf(ben(decideReview, { review_id: id, decision: "reject", comment: " " }))).toBe(
      "invalid_input",
    );
    expect(
      await ben(decideReview, { review_id: id, decision: "reject", comment: "Wrong column" }),
    ).toMatchObject({ status: "rejected", comment: "Wrong column" });
    expect(await published("report")).toBe(1);
  });

  it.each<[string, (team: Team) => Promise<unknown>]>([
    [
      "a called workflow is published again",
      async ({ agent, ben, approve }) => {
        await update(agent, "child", say(8));
        await approve(ben, (await publish(agent, "child")).review!.id);
      },
    ],
    [
      "another version is published",
      async ({ cid, ann }) => {
        await update(ann, "caller", { ...call("child"), output: "1" });
        await publish(cid, "caller");
      },
    ],
  ])("is refused with the new plan when %s meanwhile", async (_what, change) => {
    const here = await team();
    const { agent, ben, read, approve, published } = here;
    await create(agent, "Child", say(7));
    await approve(ben, (await publish(agent, "child")).review!.id);
    await create(agent, "Caller", call("child"));
    const { id } = (await publish(agent, "caller")).review!;
    const { digest } = await read(id);
    await change(here);
    const before = await published("caller");
    await expect(approve(ben, id, digest)).rejects.toMatchObject({ code: "review_changed" });
    expect(await published("caller")).toBe(before);
    const now = await read(id);
    expect(now).toMatchObject({ status: "pending", changed: true });
    expect(await approve(ben, id, now.digest)).toMatchObject({ status: "approved" });
    expect(await published("caller")).toBe(1);
  });

  it("is withdrawn by who asked with any key or session, and by nobody else", async () => {
    const here = await team();
    const { ann, ben, read, approve } = here;
    const id = await pending(here);
    const { digest } = await read(id);
    expect(await codeOf(ben(withdrawReview, { review_id: id }))).toBe("review_not_yours");
    expect(await ann(withdrawReview, { review_id: id })).toMatchObject({ status: "withdrawn" });
    expect(await codeOf(ann(withdrawReview, { review_id: id }))).toBe("review_decided");
    expect(await codeOf(approve(ben, id, digest))).toBe("review_decided");
  });

  it.each<[string, (by: Caller) => Promise<unknown>]>([
    ["unpublished", (by) => by(unpublishWorkflow, { workflow_id: "report" })],
    ["archived", (by) => by(archiveWorkflow, { workflow_id: "report" })],
  ])("is outdated when the workflow is %s", async (_what, change) => {
    const here = await team();
    const { cid, ben, read, approve } = here;
    const id = await pending(here);
    const { digest } = await read(id);
    await change(cid);
    expect((await read(id)).status).toBe("outdated");
    expect(await codeOf(approve(ben, id, digest))).toBe("review_decided");
  });

  it("is approved by another person who publishes the version, and outdated once no review is needed", async () => {
    const here = await team();
    const { agent, cid, read, setReview } = here;
    const id = await pending(here);
    await publish(cid, "report");
    expect(await read(id)).toMatchObject({ status: "approved", decided_by: "cid@example.com" });
    await create(agent, "Second", say(1));
    const second = (await publish(agent, "second")).review!.id;
    await setReview(false);
    await publish(agent, "second");
    expect((await read(second)).status).toBe("outdated");
  });

  it("is an admin's consent to the tool, which the plan shows, and nobody else's", async () => {
    const here = await team();
    const { agent, ben, approve, person } = here;
    const admin = await person("root", "admin");
    for (const [name, by, state] of [
      ["One", ben, "requested"],
      ["Two", admin, "allowed"],
    ] as const) {
      await create(agent, name, { ...say(1), expose_as_tool: true });
      await approve(by, (await publish(agent, name.toLowerCase())).review!.id);
      expect(await ben(getExposure, { workflow_id: name.toLowerCase() })).toMatchObject({ state });
    }
  });

  it("is decided once: of two deciders one succeeds", async () => {
    const here = await team();
    const { ben, cid, read, approve } = here;
    const id = await pending(here);
    const { digest } = await read(id);
    const reject = cid(decideReview, { review_id: id, decision: "reject", comment: "No" });
    const outcomes = await Promise.all([codeOf(approve(ben, id, digest)), codeOf(reject)]);
    expect(outcomes.toSorted()).toEqual(["ok", "review_decided"]);
    expect(["approved", "rejected"]).toContain((await read(id)).status);
  });
});

describe("reviews of a project", () => {
  it("are turned on by a key of an admin, but off by a person only", async () => {
    const { key, person, published } = await team({ review: false });
    const admin = await person("root", "admin");
    const byKey = key("root@example.com");
    await byKey(updateProject, { project: "default", review: true });
    expect(await codeOf(byKey(updateProject, { project: "default", review: false }))).toBe("person_needed");
    await create(byKey, "Report", say(1));
    await publish(byKey, "report");
    expect(await published("report")).toBeNull();
    await admin(updateProject, { project: "default", review: false });
    await publish(byKey, "report");
    expect(await published("report")).toBe(1);
  });
});

describe("what runs by itself in a project with review", () => {
  it("calls no draft: its caller is not published, and runs of a published one have nothing to call", async () => {
    const here = await team();
    const { instance, agent, ben, cid, approve } = here;
    const { queue } = await instance.executor();
    await create(agent, "Child", say(7));
    await create(agent, "Caller", call("child"));
    await expect(publish(agent, "caller")).rejects.toMatchObject({
      code: "workflow_not_runnable",
      message: expect.stringContaining('Publish "child" first') as string,
    });
    expect(await codeOf(publish(ben, "caller"))).toBe("workflow_not_runnable");
    await approve(ben, (await publish(agent, "child")).review!.id);
    await approve(ben, (await publish(agent, "caller")).review!.id);
    await cid(unpublishWorkflow, { workflow_id: "child", break_callers: ["caller"] });
    await update(agent, "child", say("evil"));
    const run = async (version?: number) => {
      const started = await agent(runWorkflow, { workflow_id: "caller", wait: 0, version });
      queue.wake();
      await queue.waitUntilIdle();
      return (await instance.services.read.runs.find(started.id))!;
    };
    expect(await run()).toMatchObject({ status: "failed", pins: {} });
    // A draft that somebody starts explicitly runs with what is there, as always.
    await update(agent, "caller", { ...call("child"), output: "1" });
    expect(await run(2)).toMatchObject({ status: "succeeded", pins: { child: 2 } });
  });

  it("is not what a key restores: it comes back as a draft, and as it was for a person", async () => {
    const here = await team();
    const { agent, ben, cid, approve, published } = here;
    for (const [name, by, expected] of [
      ["One", agent, null],
      ["Two", cid, 1],
    ] as const) {
      const id = name.toLowerCase();
      await create(agent, name, { ...say(1), schedule: { cron: "0 7 * * 1", timezone: "UTC" } });
      await approve(ben, (await publish(agent, id)).review!.id);
      await cid(archiveWorkflow, { workflow_id: id });
      const restored = await by(restoreWorkflow, { workflow_id: id });
      expect(restored.status).toBe(expected === null ? "draft" : "published");
      expect(await published(id)).toBe(expected);
      const schedule = await here.instance.services.read.schedules.find(id);
      expect(schedule === undefined).toBe(expected === null);
    }
  });
});

describe("turning review on", () => {
  it("names the published workflows that run drafts, and no others", async () => {
    const { instance, ann } = await team({ review: false });
    const root = callAs(
      instance,
      (await signedInUser(instance, { email: "root@example.com", role: "admin" })).principal,
    );
    for (const name of ["Sub", "Other"]) await create(ann, name, say(1));
    await publish(ann, "other");
    await create(ann, "Main", call("sub"));
    await publish(ann, "main");
    await create(ann, "Fine", call("other"));
    await publish(ann, "fine");
    await create(ann, "Draft", call("sub"));
    const turned = await root(updateProject, { project: DEFAULT_PROJECT, review: true });
    expect(turned.warnings).toMatchObject([
      {
        path: "review",
        code: "calls_draft",
        message: expect.stringMatching(/^affects "main": it runs "sub", which is a draft/),
      },
    ]);
    expect(await root(updateProject, { project: DEFAULT_PROJECT, review: true })).not.toHaveProperty(
      "warnings",
    );
  });
});
