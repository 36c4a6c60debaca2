/** Where a workflow or its project demands a backtest, nothing goes live whose differences nobody has accepted by name. */
import { describe, expect, it } from "vitest";
import { Scope } from "../../schemas/actor.ts";
import type { Backtest } from "../../schemas/backtest.ts";
import type { Review } from "../../schemas/review.ts";
import type { WorkflowVersion } from "../../schemas/workflow.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { HOUR } from "../../src/core/clock.ts";
import { nextTurn } from "../../src/core/next-turn.ts";
import type { Actor, Principal } from "../../src/core/ports.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import { listAuditLog } from "../../tools/audit/list-audit-log.ts";
import { backtestWorkflow } from "../../tools/backtests/backtest-workflow.ts";
import { cancelBacktest } from "../../tools/backtests/cancel-backtest.ts";
import { listBacktests } from "../../tools/backtests/list-backtests.ts";
import { updateProject } from "../../tools/projects/update-project.ts";
import { decideReview } from "../../tools/reviews/decide-review.ts";
import { getReview } from "../../tools/reviews/get-review.ts";
import { cancelRun } from "../../tools/runs/cancel-run.ts";
import { listRuns } from "../../tools/runs/list-runs.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { getWorkflowVersion } from "../../tools/workflows/get-workflow-version.ts";
import { listWorkflowVersions } from "../../tools/workflows/list-workflow-versions.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { unpublishWorkflow } from "../../tools/workflows/unpublish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { untilPassing } from "../support/eventually.ts";
import { exampleEnvironment } from "../support/example-environment.ts";
import { keyPrincipal, signedInUser } from "../support/users.ts";

const RULE = { last: 10, allow: ["output.note"] };

interface Definition {
  factor?: number;
  note?: string;
  subject?: string;
  /** Null for none. */
  rule?: object | null;
  more?: object[];
}

/** Multiplies an amount and posts it. The output names each amount. */
const definitionOf = (
  url: string,
  { factor = 2, note = "net", subject = "Paid", rule = RULE, more = [] }: Definition,
) => ({
  inputs: {
    type: "object",
    properties: { amounts: { type: "array", items: { type: "integer" } } },
    required: ["amounts"],
  },
  steps: [
    { id: "rate", type: "http", url: `${url}/rate?day=1` },
    {
      id: "sums",
      type: "set",
      values: { rows: `\${{ inputs.amounts.map(a, {'amount': a, 'total': a * ${factor}}) }}` },
    },
    {
      id: "pay",
      type: "http",
      method: "POST",
      url: `${url}/pay`,
      body: { subject, rows: "${{ steps.sums.rows }}" },
    },
    ...more,
  ],
  output: { rows: "${{ steps.sums.rows }}", note },
  ...(rule !== null && { backtest: rule }),
});

/** A published workflow with two runs, of a definition with a rule. */
async function published(
  first: Definition = {},
  { runs = [[1], [2, 3]] }: { runs?: readonly (readonly number[])[] } = {},
) {
  const here = await exampleEnvironment({
    http: ({ method }) => ({ body: method === "GET" ? { rate: 1 } : { booked: true } }),
  });
  /** Calls an operation, with an executor that goes on with backtests meanwhile. */
  const callAs = async <T>(actor: Actor, tool: AnyTool, input: object): Promise<T> => {
    const progress = { isDone: false };
    const answer = invoke(here.services, tool, input, {
      actor,
      requestId: "req_1",
      signal: new AbortController().signal,
    }).finally(() => {
      progress.isDone = true;
    });
    answer.catch(() => undefined);
    while (!progress.isDone) {
      await here.executor.continueBacktests();
      await nextTurn();
    }
    return (await answer) as T;
  };
  const call = <T = { version: number }>(tool: AnyTool, input: object): Promise<T> =>
    callAs<T>(OPERATOR_ACTOR, tool, input);
  const as = (principal: Principal) => {
    const actor: Actor = { principal, client: { surface: "rest", name: "test" } };
    return <T>(tool: AnyTool, input: object): Promise<T> => callAs<T>(actor, tool, input);
  };
  await call(createWorkflow, { name: "Pay", definition: definitionOf(here.url, first) });
  await call(publishWorkflow, { workflow_id: "pay" });
  for (const amounts of runs) {
    await here.run("pay", { amounts });
    here.clock.advance(1_000);
  }
  const change = async (definition: Definition): Promise<number> =>
    (await call(updateWorkflow, { workflow_id: "pay", definition: definitionOf(here.url, definition) }))
      .version;
  const publish = (input: object = {}) => call(publishWorkflow, { workflow_id: "pay", ...input });
  const backtests = async (): Promise<Backtest[]> =>
    (await call<{ items: Backtest[] }>(listBacktests, { workflow_id: "pay" })).items;
  /** Asks to publish, and leaves once the backtest has started. */
  const leave = async (input: object, total = 2): Promise<void> => {
    const leaves = new AbortController();
    const answer = invoke(
      here.services,
      publishWorkflow,
      { workflow_id: "pay", ...input },
      {
        actor: OPERATOR_ACTOR,
        requestId: "req_1",
        signal: leaves.signal,
      },
    );
    answer.catch(() => undefined);
    await untilPassing(async () => expect(await backtests()).toHaveLength(1));
    leaves.abort();
    await expect(answer).rejects.toMatchObject({
      code: "backtest_unfinished",
      message: expect.stringContaining(`has compared 0 of ${total} runs`),
    });
  };
  const version = (number: number): Promise<WorkflowVersion> =>
    call(getWorkflowVersion, { workflow_id: "pay", version: number });
  return { here, call, as, leave, change, publish, backtests, version, sent: () => here.requests.length };
}

const sub = (x: number) => ({ steps: [{ id: "x", type: "set", values: { x } }] });

const inputs = (properties: object) => ({ inputs: { type: "object", properties, required: ["amounts"] } });

/** The input of update_project. */
const rule = (backtest: object | null) => ({ project: "default", backtest });

const differing = (...names: string[]) => ({
  code: "backtest_differs",
  details: { errors: [expect.objectContaining({ path: "accept_differences", allowed: names })] },
});

describe("publish_workflow with a rule of backtests", () => {
  it("runs the backtest by itself, calls nothing, and records it in the history of versions", async () => {
    const { change, publish, backtests, version, call, sent } = await published();
    const before = sent();
    await change({ note: "gross" });
    expect(await publish()).toMatchObject({ published_version: 2 });
    expect(sent()).toBe(before);
    const [backtest, ...others] = await backtests();
    expect(others).toEqual([]);
    expect(backtest).toMatchObject({
      version: 2,
      runs: { total: 2, different: 2 },
      differing: [{ name: "output.note", runs: 2 }],
    });
    const passed = {
      id: backtest!.id,
      rule: RULE,
      runs: { total: 2, equal: 0, different: 2, failing: 0, not_comparable: 0 },
      allowed: ["output.note"],
      accepted: [],
    };
    expect((await version(2)).backtest).toEqual(passed);
    const { items } = await call<{ items: WorkflowVersion[] }>(listWorkflowVersions, { workflow_id: "pay" });
    expect(items.map((entry) => entry.backtest)).toEqual([
      passed,
      { ...passed, id: null, runs: { ...passed.runs, total: 0, different: 0 }, allowed: [] },
    ]);
  });

  it("refuses what differs, names all of it, and accepts it by name", async () => {
    const { change, publish, backtests, version } = await published();
    await change({ factor: 3, note: "gross", subject: "Done" });
    const names = ["output.rows.total", "steps.pay.input.body.rows.total", "steps.pay.input.body.subject"];
    await expect(publish()).rejects.toMatchObject(differing(...names));
    await expect(
      publish({ accept_differences: ["output", "steps.pay.input.body.rows"] }),
    ).rejects.toMatchObject(differing(names[2]!));
    await expect(publish({ accept_differences: ["output.row", "steps.pa"] })).rejects.toMatchObject(
      differing(...names),
    );
    // Brackets stand for all items.
    const accepted = ["output.rows[].total", "steps.pay"];
    expect(await publish({ accept_differences: accepted })).toMatchObject({ published_version: 2 });
    expect((await version(2)).backtest).toMatchObject({
      allowed: ["output.note"],
      accepted: ["output.rows.total", "steps.pay"],
    });
    expect(await backtests()).toHaveLength(1);
  });

  it("names runs that fail, effects that are new or gone, and what can't be compared", async () => {
    const { here, call, change, publish } = await published();
    const post = { type: "http", method: "POST", url: `${here.url}/more`, body: {} };
    await change({
      more: [
        { id: "more", ...post },
        { id: "check", type: "assert", that: "size(inputs.amounts) == 1" },
      ],
    });
    await expect(publish()).rejects.toMatchObject(differing("error.assert_failed", "steps.more.added"));
    await change({
      more: [
        { id: "more", ...post },
        { id: "read", type: "set", values: { a: "${{ steps.more.body }}" } },
      ],
    });
    await expect(publish()).rejects.toMatchObject(differing("not_comparable.new_step", "steps.more.added"));
    const given = { more: { status: 200, headers: {}, body: {} } };
    here.clock.advance(1_000);
    await call(backtestWorkflow, { workflow_id: "pay", given, wait: 50 });
    // One with given outputs counts only if these are accepted too.
    await expect(publish({ accept_differences: ["steps.more"] })).rejects.toMatchObject(
      differing("not_comparable.new_step"),
    );
    await publish({ accept_differences: ["given.more", "steps.more"] });
  });

  it("counts a backtest that reads live", async () => {
    const { here, call, change, publish } = await published();
    await change({ more: [{ id: "other", type: "http", url: `${here.url}/rate?day=2` }] });
    await expect(publish()).rejects.toMatchObject(differing("not_comparable.changed_read"));
    await call(backtestWorkflow, { workflow_id: "pay", reads: "live", wait: 50 });
    expect(await publish()).toMatchObject({ published_version: 2 });
  });

  it("takes no backtest of other runs, of some of them, of yesterday, or with another called workflow", async () => {
    const { here, call, change, publish, backtests } = await published();
    await call(createWorkflow, { name: "Sub", definition: sub(1) });
    await call(publishWorkflow, { workflow_id: "sub" });
    await change({ more: [{ id: "sub", type: "workflow", workflow: "sub" }] });
    const started = async (input: object) => {
      here.clock.advance(1_000);
      await call(backtestWorkflow, { workflow_id: "pay", wait: 50, ...input });
      return (await backtests())[0]!.id;
    };
    const all = await started({});
    here.clock.advance(25 * HOUR);
    await started({ last: 1 });
    await started({ run_version: 1, since: "2020-01-01", last: 1 });
    await started({ patch: [{ op: "update_step", id: "rate", set: { description: "a" } }] });
    const before = (await backtests()).length;
    const accept_differences = ["steps.sub"];
    here.clock.advance(1_000);
    await publish({ accept_differences });
    const [used, ...others] = await backtests();
    expect(others).toHaveLength(before);
    expect(used!.id).not.toBe(all);
    // A called workflow with another version: what was tested is not what would run.
    await change({ note: "a", more: [{ id: "sub", type: "workflow", workflow: "sub" }] });
    const tested = await started({});
    await call(updateWorkflow, { workflow_id: "sub", definition: sub(2) });
    await call(publishWorkflow, { workflow_id: "sub" });
    here.clock.advance(1_000);
    await publish({ accept_differences });
    expect((await backtests())[0]!.id).not.toBe(tested);
  });

  it("lets no version loosen the rule for itself", async () => {
    const { call, change, publish } = await published();
    await change({ factor: 3, rule: { last: 1, allow: ["output", "steps.pay"] } });
    const values = ["output.rows.total", "steps.pay.input.body.rows.total"];
    const names = ["definition.backtest", ...values];
    await expect(publish()).rejects.toMatchObject(differing(...names));
    await change({ factor: 3, rule: null });
    await expect(publish()).rejects.toMatchObject(differing(...names));
    await call(unpublishWorkflow, { workflow_id: "pay" });
    await expect(publish()).rejects.toMatchObject(differing(...names));
    // Nor in two steps.
    await change({ rule: null });
    await expect(publish()).rejects.toMatchObject(differing("definition.backtest"));
    await change({ rule: { ...RULE, allow: ["output"] } });
    await expect(publish()).rejects.toMatchObject(differing("definition.backtest"));
    await change({ factor: 3, rule: null });
    await publish({ accept_differences: names });
    await change({ factor: 4 });
    // The published version has no rule now, so the new one has its own.
    await expect(publish()).rejects.toMatchObject(differing(...values));
  });

  it("needs none to go back to a version that was published before", async () => {
    const { change, publish, backtests } = await published();
    await change({ factor: 3 });
    await publish({ accept_differences: ["output", "steps.pay"] });
    expect(await publish({ version: 1 })).toMatchObject({ published_version: 1 });
    expect(await backtests()).toHaveLength(1);
  });

  it("names what no run of the past can show", async () => {
    const { here, call, change, publish } = await published();
    const start = (more: object) =>
      call(updateWorkflow, {
        workflow_id: "pay",
        definition: { ...definitionOf(here.url, {}), ...more },
      });
    const amounts = { type: "array", items: { type: "integer" } };
    await start({
      schedule: { cron: "0 8 * * MON", inputs: { amounts: [1] } },
      ...inputs({ amounts: { ...amounts, default: [666] } }),
      timeout: "1h",
    });
    await expect(publish()).rejects.toMatchObject(
      differing("definition.inputs.amounts", "definition.schedule", "definition.timeout"),
    );
    const retry = { attempts: 3 };
    const [rate, sums, pay] = definitionOf(here.url, {}).steps;
    await start({ steps: [{ ...rate, retry }, sums, { ...pay, retry }] });
    await expect(publish()).rejects.toMatchObject(differing("steps.pay.retry", "steps.rate.retry"));
    // A further input, and what people read, change no run.
    await start(inputs({ amounts: { ...amounts, description: "In cents" }, memo: { type: "string" } }));
    await publish();
    await change({});
    await expect(publish()).rejects.toMatchObject(differing("definition.inputs.memo"));
  });

  it("takes runs of published versions only", async () => {
    const { here, change, publish } = await published();
    await change({ factor: 3 });
    for (let count = 0; count < RULE.last; count += 1)
      await here.call(runWorkflow, { workflow_id: "pay", version: 2, inputs: { amounts: [] }, wait: 0 });
    await here.settle();
    await expect(publish()).rejects.toMatchObject(
      differing("output.rows.total", "steps.pay.input.body.rows.total"),
    );
  });

  it("does not count on runs whose replay somebody cancelled, and tests again", async () => {
    const { here, call, change, publish, backtests } = await published();
    await change({ factor: 3 });
    await here.call(backtestWorkflow, { workflow_id: "pay", wait: 0 });
    await here.executor.continueBacktests();
    const { items } = await call<{ items: { id: string }[] }>(listRuns, { trigger: "backtest" });
    for (const { id } of items) await here.call(cancelRun, { run_id: id });
    await here.settle();
    await here.executor.continueBacktests();
    here.clock.advance(1_000);
    await expect(publish()).rejects.toMatchObject(
      differing("output.rows.total", "steps.pay.input.body.rows.total"),
    );
    expect(await backtests()).toHaveLength(2);
  });

  it("is not kept from publishing by a backtest with given outputs, or of somebody else", async () => {
    const { here, call, as, change, publish } = await published();
    await change({ note: "gross" });
    const eve = as({ ...keyPrincipal(Scope.options, "eve@example.com"), keyName: "eve" });
    await eve(backtestWorkflow, { workflow_id: "pay", given: { pay: { body: {} } }, wait: 50 });
    here.clock.advance(1_000);
    const running = await call<Backtest>(backtestWorkflow, {
      workflow_id: "pay",
      given: { pay: { body: {} } },
      wait: 0,
    });
    here.clock.advance(1_000);
    expect(running.status).toBe("running");
    expect(await publish()).toMatchObject({ published_version: 2 });
  });

  it("does not take the backtest of an earlier request with the same key for what runs now", async () => {
    const { here, call, change, publish, backtests, leave } = await published();
    await call(createWorkflow, { name: "Sub", definition: sub(1) });
    await call(publishWorkflow, { workflow_id: "sub" });
    await change({ more: [{ id: "sub", type: "workflow", workflow: "sub" }] });
    const input = { accept_differences: ["steps.sub"], idempotency_key: "k" };
    await leave(input);
    here.clock.advance(1_000);
    await call(updateWorkflow, { workflow_id: "sub", definition: sub(2) });
    await call(publishWorkflow, { workflow_id: "sub" });
    await publish(input);
    expect(await backtests()).toHaveLength(2);
  });

  it("goes on with the backtest of a caller who left", async () => {
    const { leave, change, publish, backtests } = await published();
    await change({ note: "gross" });
    await leave({});
    await publish();
    expect(await backtests()).toHaveLength(1);
  });

  it("goes on with a backtest although a run has ended since, which was created before", async () => {
    const more = [{ id: "pause", type: "wait", for: "1h" }];
    const { here, leave, change, publish, backtests } = await published({ more });
    const { id } = await here.call<{ id: string }>(runWorkflow, {
      workflow_id: "pay",
      inputs: { amounts: [4] },
      wait: 0,
    });
    await here.settle();
    await change({ note: "gross", more });
    here.clock.advance(1_000);
    await leave({});
    await here.ended(id);
    expect(await publish()).toMatchObject({ published_version: 2 });
    expect(await backtests()).toHaveLength(1);
  });

  it("takes no backtest without any of the last runs for one that found nothing", async () => {
    const more = [{ id: "pause", type: "wait", for: "1h" }];
    const { here, leave, change, publish } = await published({ more, rule: { last: 1 } });
    const input = { workflow_id: "pay", inputs: { amounts: [4] }, wait: 0 };
    const { id } = await here.call<{ id: string }>(runWorkflow, input);
    await here.settle();
    await change({ factor: 3, more, rule: { last: 1 } });
    await leave({}, 1);
    await here.ended(id);
    await expect(publish()).rejects.toMatchObject(
      differing("output.rows.total", "steps.pay.input.body.rows.total"),
    );
  });

  it("counts what differs in the last runs only", async () => {
    const { here, call, change, publish } = await published({ rule: { last: 1 } }, { runs: [[2], []] });
    await change({ factor: 3, rule: { last: 1 } });
    here.clock.advance(1_000);
    await call(backtestWorkflow, { workflow_id: "pay", wait: 50 });
    expect(await publish()).toMatchObject({ published_version: 2 });
  });

  it("knows the version that was live last, also after going back to it", async () => {
    const { call, change, publish } = await published();
    await change({ rule: null });
    await publish({ accept_differences: ["definition.backtest"] });
    await publish({ version: 1 });
    await call(unpublishWorkflow, { workflow_id: "pay" });
    await change({ factor: 3, rule: null });
    await expect(publish()).rejects.toMatchObject(
      differing("definition.backtest", "output.rows.total", "steps.pay.input.body.rows.total"),
    );
  });

  it("says that the backtest was cancelled, and runs another one at the next request", async () => {
    const { here, change, publish, backtests } = await published();
    await change({ note: "gross" });
    const refused = here.call(publishWorkflow, { workflow_id: "pay" });
    refused.catch(() => undefined);
    await untilPassing(async () => expect(await backtests()).toHaveLength(1));
    const [{ id }] = (await backtests()) as [Backtest];
    await here.call(cancelBacktest, { workflow_id: "pay", backtest_id: id });
    await expect(refused).rejects.toMatchObject({
      code: "backtest_unfinished",
      message: expect.stringContaining(`${id} of version 2 ended early (cancelled)`),
    });
    expect(await publish()).toMatchObject({ published_version: 2 });
  });

  it("says so where no executor runs", async () => {
    const { here, change } = await published();
    await change({ note: "other" });
    await here.executor.stop(0);
    await expect(here.call(publishWorkflow, { workflow_id: "pay" })).rejects.toMatchObject({
      code: "backtest_unfinished",
      message: expect.stringContaining("no executor"),
    });
  });

  it("refuses names that name nothing, all at once", async () => {
    const { publish } = await published();
    await expect(
      publish({ accept_differences: ["output.a", "note", "steps", "output..a"] }),
    ).rejects.toMatchObject({
      code: "invalid_input",
      details: { errors: [{ path: "accept_differences[1]" }, { path: "accept_differences[3]" }] },
    });
  });
});

describe("a project with a rule of backtests", () => {
  const setRule = rule({ last: 5 });

  it("demands it of every workflow, whose own rule allows nothing in the first publication", async () => {
    const { call, change, publish } = await published({ rule: null });
    await call(updateProject, setRule);
    await change({ factor: 3, rule: { last: 1, allow: ["output", "steps.pay"] } });
    const values = ["output.rows.total", "steps.pay.input.body.rows.total"];
    await expect(publish()).rejects.toMatchObject(differing("definition.backtest", ...values));
    await publish({ accept_differences: ["output", "steps.pay", "definition"] });
    await change({ factor: 4, rule: { last: 1, allow: ["output", "steps.pay"] } });
    await publish();
  });

  it("lets no key loosen the rule, and a person", async () => {
    const { here, call, as } = await published({ rule: null });
    const key = as({ ...keyPrincipal(Scope.options, "ann@example.com"), keyName: "agent" });
    await call(updateProject, rule({ last: 5, allow: ["output.a"] }));
    for (const looser of [null, { last: 4, allow: ["output.a"] }, { last: 5, allow: ["output"] }])
      await expect(key(updateProject, rule(looser))).rejects.toMatchObject({ code: "person_needed" });
    await key(updateProject, rule({ last: 6, allow: ["output.a[].b"] }));
    const { principal } = await signedInUser(here.instance, { email: "ada@example.com", role: "admin" });
    expect(await as(principal)(updateProject, rule(null))).toMatchObject({ backtest: null });
  });

  it("shows a reviewer the backtest, and publishes no request that has none", async () => {
    const { here, call, as, change, version } = await published({ rule: null });
    const key = as({ ...keyPrincipal(Scope.options, "ann@example.com"), keyName: "agent" });
    const { principal } = await signedInUser(here.instance, { email: "ben@example.com", role: "editor" });
    const ben = as(principal);
    await call(updateProject, { project: "default", review: true });
    await change({ factor: 3, rule: null });
    type Asked = { review: { id: string } };
    const early = await key<Asked>(publishWorkflow, { workflow_id: "pay" });
    await call(updateProject, setRule);
    const approve = async (id: string) => {
      const { digest } = await ben<Review>(getReview, { review_id: id });
      return ben<Review>(decideReview, { review_id: id, decision: "approve", digest });
    };
    await expect(approve(early.review.id)).rejects.toMatchObject({ code: "backtest_unfinished" });
    await expect(key(publishWorkflow, { workflow_id: "pay" })).rejects.toMatchObject({
      code: "backtest_differs",
    });
    const accept_differences = ["output", "steps.pay"];
    const asked = await key<Asked>(publishWorkflow, { workflow_id: "pay", accept_differences });
    expect(await ben<Review>(getReview, { review_id: asked.review.id })).toMatchObject({
      backtest: { runs: { different: 2 }, accepted: accept_differences },
    });
    await call(updateProject, rule({ last: 6 }));
    await expect(approve(asked.review.id)).rejects.toMatchObject({ code: "backtest_unfinished" });
    await call(updateProject, setRule);
    expect(await approve(asked.review.id)).toMatchObject({ status: "approved" });
    expect((await version(2)).backtest).toMatchObject({ accepted: accept_differences });
  });

  it("publishes no request whose called workflow is another one than was tested", async () => {
    const { here, call, as, change } = await published({ rule: null });
    const key = as({ ...keyPrincipal(Scope.options, "ann@example.com"), keyName: "agent" });
    const { principal } = await signedInUser(here.instance, { email: "ben@example.com", role: "editor" });
    const ben = as(principal);
    await call(createWorkflow, { name: "Sub", definition: sub(1) });
    await call(publishWorkflow, { workflow_id: "sub" });
    await call(updateProject, { ...setRule, review: true });
    await change({ rule: null, more: [{ id: "sub", type: "workflow", workflow: "sub" }] });
    const ask = async () => {
      here.clock.advance(1_000);
      const input = { workflow_id: "pay", accept_differences: ["steps.sub"] };
      return (await key<{ review: { id: string } }>(publishWorkflow, input)).review.id;
    };
    const approve = async (review_id: string) => {
      const { digest } = await ben<Review>(getReview, { review_id });
      return ben<Review>(decideReview, { review_id, decision: "approve", digest });
    };
    const early = await ask();
    await call(updateWorkflow, { workflow_id: "sub", definition: sub(2) });
    await call(publishWorkflow, { workflow_id: "sub" });
    await expect(approve(early)).rejects.toMatchObject({ code: "backtest_unfinished" });
    const again = await ask();
    expect(again).not.toBe(early);
    expect(await approve(again)).toMatchObject({ status: "approved" });
  });

  it("audits what was accepted", async () => {
    const { call, change, publish, backtests } = await published();
    await change({ factor: 3 });
    await publish({ accept_differences: ["output", "steps.pay"] });
    const { items } = await call<{ items: { operation: string; details?: object }[] }>(listAuditLog, {
      target: "pay",
    });
    const [backtest] = await backtests();
    expect(items.map(({ details }) => details)).toContainEqual(
      expect.objectContaining({
        backtest: backtest!.id,
        version: 2,
        accepted: ["output", "steps.pay"],
      }),
    );
  });
});
