/** Trials: runs of examples, and runs with given outputs, have no effect. */
import { describe, expect, it } from "vitest";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import { iso } from "../../src/core/clock.ts";
import { projectWriter } from "../../src/store/projects.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { retryRun } from "../../tools/runs/retry-run.ts";
import { getRunValue } from "../../tools/runs/get-run-value.ts";
import { listAuditLog } from "../../tools/audit/list-audit-log.ts";
import { getReview } from "../../tools/reviews/get-review.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { listRuns } from "../../tools/runs/list-runs.ts";
import { getWorkflow } from "../../tools/workflows/get-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { validateWorkflow } from "../../tools/workflows/validate-workflow.ts";
import { getWorkflowState } from "../../tools/workflow-state/get-workflow-state.ts";
import { IS_POSTGRES } from "../support/postgres-databases.ts";
import { exampleEnvironment } from "../support/example-environment.ts";
import type { Json } from "../support/json.ts";
import { callAs, keyPrincipal, signedInUser } from "../support/users.ts";

type Environment = Awaited<ReturnType<typeof exampleEnvironment>>;

const set = (id: string, values: object) => ({ id, type: "set", values });
const mail = (more: object = {}) => ({
  id: "send",
  type: "email",
  to: ["team@example.com"],
  subject: "Report",
  text: "Total: ${{ steps.sums.total }}",
  ...more,
});
const sums = set("sums", { total: 7 });

const create = (here: Environment, name: string, definition: object) =>
  here.call(createWorkflow, { name, definition });
/** Publishes a workflow. @returns the answer, or the error */
const publish = (here: Environment, id: string): Promise<Json> =>
  here
    .call<Json>(publishWorkflow, { workflow_id: id })
    .catch((error: { code: string; details: object }) => ({ code: error.code, ...error.details }));

/** A workflow with an example that asserts something. */
const definitionWith = (...assertions: unknown[]) => ({
  inputs: { type: "object", properties: { n: { type: "number", default: 2 } } },
  steps: [set("sums", { total: "${{ inputs.n * 3 }}" })],
  output: { total: "${{ steps.sums.total }}" },
  examples: [{ inputs: { n: 4 }, assert: assertions }],
});

/** Runs the workflow as a trial. */
const trial = (here: Environment, given: object, more: object = {}) =>
  here.call<Json>(runWorkflow, { workflow_id: "report", given, wait: 20, ...more });

/** Everything that left Millrace. */
const effectsOf = ({ mails, requests }: Environment) => [
  ...mails.map(() => "mail"),
  ...requests.map(({ method }) => method),
];

describe("a trial", () => {
  it("refuses outputs that its steps can't have, before it starts", async () => {
    const here = await exampleEnvironment();
    await create(here, "Report", { steps: [sums, mail()] });
    const refused = trial(here, { send: { message_id: 7 }, sums: { totl: 7 } });
    await expect(refused).rejects.toMatchObject({
      code: "invalid_input",
      details: {
        errors: [
          { path: "given.send.message_id", code: "unfit_output", fix: expect.stringContaining("text") },
          { path: "given.sums.totl", code: "unfit_output", did_you_mean: "total" },
        ],
      },
    });
    expect(await here.call(listRuns, {})).toMatchObject({ items: [] });
  });
});

describe("publishing", () => {
  it.each<[string, (url: string) => object]>([
    ["a mail", () => ({ steps: [sums, mail()] })],
    ["a request", (url) => ({ steps: [{ id: "post", type: "http", method: "POST", url }] })],
    [
      "a request of a computed method",
      (url) => ({
        steps: [set("m", { x: "DELETE" }), { id: "del", type: "http", method: "${{ steps.m.x }}", url }],
      }),
    ],
    [
      "a GET that a server takes for another method",
      (url) => ({
        steps: [{ id: "get", type: "http", url, headers: { "X-HTTP-Method-Override": "DELETE" } }],
      }),
    ],
    ["a mail under on_error: continue", () => ({ steps: [sums, mail({ on_error: "continue" })] })],
    ["mails of a fan-out", () => ({ steps: [sums, mail({ for_each: "[1, 2]", on_error: "continue" })] })],
    [
      "a mail with retries of any error",
      () => ({
        steps: [sums, mail({ retry: { attempts: 3, initial: "1ms", on: ["not_given", "step_failed"] } })],
      }),
    ],
    ["mails of a loop", () => ({ steps: [sums, mail({ repeat: { max: 2 } })] })],
    [
      "a mail to the people who decide",
      () => ({
        steps: [{ id: "ask", type: "approval", message: "Go on?", assignees: ["ann@example.com"] }],
      }),
    ],
    [
      "the handler of a failure",
      () => ({
        steps: [{ id: "stop", type: "assert", that: "inputs.ok" }],
        inputs: { type: "object", properties: { ok: { type: "boolean", default: false } } },
        on_failure: "mailer",
      }),
    ],
    ["a mail of a called workflow", () => ({ steps: [{ id: "sub", type: "workflow", workflow: "mailer" }] })],
    [
      "what undoes the run of a called workflow",
      (url) => ({
        steps: [
          { id: "sub", type: "workflow", workflow: "quiet", undo: { type: "http", method: "DELETE", url } },
          { id: "stop", type: "assert", that: "steps.sub.output.total > 7" },
        ],
      }),
    ],
  ])("never executes %s for an example", async (_what, definitionOf) => {
    const here = await exampleEnvironment();
    await create(here, "Mailer", { steps: [sums, mail()] });
    await publish(here, "mailer");
    await create(here, "Quiet", { steps: [sums] });
    await publish(here, "quiet");
    await create(here, "Report", { ...definitionOf(here.url), examples: [{ inputs: {} }] });
    await publish(here, "report");
    await here.settle();
    expect(effectsOf(here)).toEqual([]);
  });

  it("says where an example was not checked, and what to give", async () => {
    const here = await exampleEnvironment();
    const definition = {
      steps: [sums, mail(), set("after", { total: "${{ steps.sums.total }}" })],
      examples: [{ name: "A week", inputs: {}, expect: { total: 8 } }],
    };
    const validated = await here.call<Json>(validateWorkflow, { definition });
    expect(validated).toMatchObject({
      valid: true,
      warnings: [{ path: "examples[0]", code: "not_checked" }],
    });
    await create(here, "Report", definition);
    const answer = await publish(here, "report");
    expect(answer).toMatchObject({
      status: "published",
      warnings: [
        {
          path: "examples[0]",
          code: "not_checked",
          message: expect.stringContaining('("A week") was checked up to "send" only'),
          fix: expect.stringContaining('given: {"send": {message_id'),
        },
      ],
    });
    const { items } = await here.call<{ items: Json[] }>(listRuns, { trial: true });
    expect(items).toMatchObject([{ trial: true, trigger: "example", error: { code: "not_given" } }]);
    // What it would have sent.
    const run = await here.call<Json>(getRun, { run_id: items[0]!["id"] });
    expect(run).toMatchObject({ trial: true, failed_step: { id: "send", input: { text: "Total: 7" } } });
    expect(await here.call(listRuns, { trial: false })).toMatchObject({ items: [] });
  });

  it("checks an example to its end with what it is given, and compares the output", async () => {
    const here = await exampleEnvironment();
    const given = { send: { message_id: "1@example.com" } };
    const steps = [sums, mail(), set("after", { id: "${{ steps.send.message_id }}" })];
    await create(here, "Report", { steps, examples: [{ given, expect: { id: "1@example.com" } }] });
    const answer = await publish(here, "report");
    expect(answer).toMatchObject({ status: "published" });
    expect(answer).not.toHaveProperty("warnings");
    await here.call(updateWorkflow, {
      workflow_id: "report",
      definition: { steps, examples: [{ given, expect: { id: "2@example.com" } }] },
    });
    expect(await publish(here, "report")).toMatchObject({
      code: "examples_failed",
      errors: [{ path: "examples[0].expect.id", code: "differs" }],
    });
    expect(effectsOf(here)).toEqual([]);
  });

  it("compares numbers of an example by value, whatever their spelling", async () => {
    const here = await exampleEnvironment();
    const steps = [set("after", { ids: [1e18, "${{ 9007199254740992 + 1 }}"] })];
    const publishWith = async (id: string, ids: unknown[]) => {
      await create(here, id, { steps, examples: [{ expect: { ids } }] });
      return publish(here, id.toLowerCase());
    };
    const equal = await publishWith("Equal", [1e18, "9007199254740993.00"]);
    expect(equal).toMatchObject({ status: "published" });
    expect(await publishWith("Other", ["1000000000000000000", "9007199254740992"])).toMatchObject({
      code: "examples_failed",
      errors: [{ path: "examples[0].expect.ids[1]", code: "differs" }],
    });
  });

  it("evaluates what an example asserts, of output, inputs and steps", async () => {
    const here = await exampleEnvironment();
    await create(here, "Report", definitionWith("output.total == inputs.n * 3", "steps.sums.total > 11"));
    expect(await publish(here, "report")).toMatchObject({ status: "published" });
    const update = (definition: object) =>
      here.call<Json>(updateWorkflow, { workflow_id: "report", definition });
    await update(definitionWith("output.total > 1", "output.total > 12"));
    const refused = await publish(here, "report");
    expect(refused).toMatchObject({
      code: "examples_failed",
      errors: [
        {
          path: "examples[0].assert[1]",
          message: expect.stringContaining('output.total > 12. The output is {"total":12}'),
        },
      ],
    });
    const saved = await update(definitionWith("output.totl > 1", "output.total", "steps.sum.total > 1"));
    expect(saved["issues"]).toMatchObject([
      { path: "examples[0].assert[0]", code: "unknown_field", did_you_mean: "total" },
      { path: "examples[0].assert[1]", code: "wrong_type" },
      { path: "examples[0].assert[2]", code: "unknown_step", did_you_mean: "sums" },
    ]);
  });

  it("reports what an example gives to no step, and what is no output, when it is saved", async () => {
    const here = await exampleEnvironment();
    const saved = await here.call<Json>(createWorkflow, {
      name: "Report",
      definition: {
        steps: [sums, mail()],
        examples: [{ given: { sent: { message_id: "1" }, send: "1" } }, { given: { steps: ["send"] } }],
      },
    });
    expect(saved["issues"]).toMatchObject([
      { path: "examples[0].given.sent", code: "unknown_step", did_you_mean: "send" },
      { path: "examples[0].given.send", code: "wrong_type" },
      { path: "examples[1].given.steps", code: "not_allowed" },
    ]);
  });

  it("takes outputs from a run of the same workflow only", async () => {
    const here = await exampleEnvironment({ http: () => ({ body: { n: 5 } }) });
    const steps = (path: string) => [
      { id: "fetch", type: "http", url: `${here.url}${path}` },
      { id: "post", type: "http", method: "POST", url: here.url, body: "${{ steps.fetch.body }}" },
      set("after", { n: "${{ steps.post.body.n }}" }),
    ];
    await create(here, "Report", { steps: steps("/a") });
    const { id: runId } = await here.run("report");
    await create(here, "Other", { steps: steps("/b") });
    const other = await here.run("other");
    const before = effectsOf(here);
    const update = (from_run: string, more: object = {}) =>
      here.call(updateWorkflow, {
        workflow_id: "report",
        definition: { steps: steps("/a"), examples: [{ given: { from_run, ...more }, expect: { n: 5 } }] },
      });
    await update(runId);
    expect(await publish(here, "report")).toMatchObject({ status: "published" });
    // Neither the read nor the request with effects was executed.
    expect(effectsOf(here)).toEqual(before);
    await update(runId, { steps: ["post"] });
    expect(await publish(here, "report")).toMatchObject({ status: "published" });
    expect(effectsOf(here)).toEqual([...before, "GET"]);
    await update(other.id);
    expect(await publish(here, "report")).toMatchObject({
      code: "examples_failed",
      errors: [{ path: "examples[0].given.from_run", code: "run_not_found" }],
    });
  });

  it("shows a reviewer where an example was not checked", async () => {
    const here = await exampleEnvironment();
    await here.instance.store.transaction((trx) =>
      projectWriter(trx).update(DEFAULT_PROJECT, { review: true }),
    );
    const ann = callAs(here, (await signedInUser(here.instance, { email: "ann@example.com" })).principal);
    const definition = { steps: [sums, mail()], examples: [{ expect: { total: 7 } }] };
    await ann(createWorkflow, { name: "Report", definition });
    const { review, warnings } = await ann(publishWorkflow, { workflow_id: "report" });
    if (review === undefined) throw new Error("no review");
    expect(warnings).toMatchObject([{ code: "not_checked" }]);
    expect(await here.call(getReview, { review_id: review.id })).toMatchObject({
      examples: [{ compared: false, checked_up_to: "send" }],
    });
    expect(effectsOf(here)).toEqual([]);
  });
});

describe("a run with given", () => {
  const steps = [
    set("sums", { total: 7 }),
    mail(),
    set("after", { id: "${{ steps.send.message_id }}", total: "${{ steps.sums.total }}" }),
  ];
  it("replaces the steps, and is marked as a trial wherever it is shown", async () => {
    const here = await exampleEnvironment();
    await create(here, "Report", { steps });
    const run = await trial(here, { send: { message_id: "m" } });
    expect(run).toMatchObject({ status: "succeeded", trial: true, output: { id: "m", total: 7 } });
    const shown = await here.call<Json>(getRun, { run_id: run["id"], detail: "steps" });
    expect(shown["steps"]).toMatchObject([
      { id: "sums", status: "succeeded" },
      { id: "send", status: "succeeded", given: true },
      { id: "after", status: "succeeded" },
    ]);
    expect(shown["steps"][0]).not.toHaveProperty("given");
    expect(shown["steps"][1]).not.toHaveProperty("reused_from");
    expect(await here.call(getRunValue, { run_id: run["id"], ref: "steps.send.output" })).toMatchObject({
      text: '{"message_id":"m"}',
    });
    expect(await here.call(listRuns, {})).toMatchObject({ items: [{ id: run["id"], trial: true }] });
    const { items } = await here.call<{ items: object[] }>(listAuditLog, {});
    expect(items).toContainEqual(
      expect.objectContaining({ operation: "run_workflow", target: run["id"], details: { trial: true } }),
    );
    expect(await here.call(getWorkflow, { workflow_id: "report", include: ["last_run"] })).toMatchObject({
      last_run: null,
    });
    expect(effectsOf(here)).toEqual([]);
  });

  it("stops at a step with effects that it is not given, and shows what it would do", async () => {
    const here = await exampleEnvironment();
    await create(here, "Report", { steps });
    expect(await trial(here, {})).toMatchObject({
      status: "failed",
      trial: true,
      error: { code: "not_given", step_id: "send" },
      failed_step: { id: "send", input: { to: ["team@example.com"], text: "Total: 7" } },
      next: expect.stringContaining("publish_workflow"),
    });
    expect(effectsOf(here)).toEqual([]);
  });

  it("is still a trial when it is retried, also with a changed definition", async () => {
    const here = await exampleEnvironment();
    await create(here, "Report", { steps });
    const first = await trial(here, { send: { message_id: "m" } });
    const again = await here.call<Json>(retryRun, { run_id: first["id"], wait: 20 });
    expect(again).toMatchObject({ trial: true, status: "succeeded", output: { id: "m" } });
    const patch = [
      { op: "add_step", step: mail({ id: "second" }), after: "send" },
      { op: "update_step", id: "send", set: { subject: "Other" } },
    ];
    const changed = await here.call<Json>(retryRun, { run_id: again["id"], patch, wait: 20 });
    expect(changed).toMatchObject({ trial: true, error: { code: "not_given", step_id: "second" } });
    expect(effectsOf(here)).toEqual([]);
  });

  it("gives a fan-out its items, with the fields that they leave out", async () => {
    const here = await exampleEnvironment();
    await create(here, "Report", {
      steps: [
        mail({ for_each: "[1, 2]", text: "a" }),
        set("after", {
          ids: "${{ steps.send.items.map(i, i.message_id) }}",
          ok: "${{ steps.send.items[0].status }}",
        }),
      ],
    });
    const given = {
      send: { items: [{ message_id: "m" }, { error: { code: "mail_failed", message: "no" } }] },
    };
    expect(await trial(here, given)).toMatchObject({ output: { ids: ["m", null], ok: "succeeded" } });
  });

  it("gives every item of a fan-out the one output that is given for it", async () => {
    const here = await exampleEnvironment();
    await create(here, "Report", {
      inputs: { type: "object", properties: { to: { type: "array", default: [1, 2, 3] } } },
      steps: [
        mail({ for_each: "inputs.to", text: "${{ string(item) }}" }),
        set("after", {
          ids: "${{ steps.send.items.map(i, i.message_id) }}",
          ok: "${{ steps.send.items.map(i, i.status) }}",
        }),
      ],
    });
    const given = { send: { message_id: "m" } };
    const first = await trial(here, given);
    expect(first).toMatchObject({ output: { ids: ["m", "m", "m"], ok: Array(3).fill("succeeded") } });
    expect(here.mails).toHaveLength(0);
    expect(await here.call(getRun, { run_id: first["id"], detail: "steps" })).toMatchObject({
      steps: [{ id: "send", given: true, items: { total: 3, done: 3 } }, { id: "after" }],
    });
    expect(await trial(here, { send: {} })).toMatchObject({ output: { ids: [null, null, null] } });
    const failed = { send: { error: { code: "timeout", message: "It took too long." } } };
    expect(await trial(here, failed)).toMatchObject({ output: { ok: Array(3).fill("failed") } });
    expect(await trial(here, given, { inputs: { to: [] } })).toMatchObject({ output: { ids: [] } });
    const again = await here.call<Json>(retryRun, { run_id: first["id"], wait: 20 });
    expect(again).toMatchObject({ output: { ids: ["m", "m", "m"] }, retry: { reused: ["after"], run: [] } });
    await expect(trial(here, { send: [{ message_id: "m" }] })).rejects.toMatchObject({
      details: {
        errors: [
          {
            path: "given.send",
            code: "wrong_type",
            fix: 'Write {"items": […]} with an output for each item, or one output, which counts for all items.',
          },
        ],
      },
    });
    await expect(trial(here, { send: { message_id: 7 } })).rejects.toMatchObject({
      details: { errors: [{ path: "given.send.message_id", code: "unfit_output" }] },
    });
  });

  it("takes the outputs of a run that the caller can read", async () => {
    const here = await exampleEnvironment();
    await create(here, "Report", { steps });
    const real = await here.run("report");
    expect(effectsOf(here)).toEqual(["mail"]);
    const { message_id: sent } = (await here.instance.read.runs.output({
      runId: real.id,
      stepId: "send",
      item: null,
    })) as { message_id: string };
    expect(await trial(here, { from_run: real.id })).toMatchObject({ trial: true, output: { id: sent } });
    expect(await trial(here, { from_run: real.id, steps: ["send"], sums: { total: 9 } })).toMatchObject({
      output: { id: sent, total: 9 },
    });
    expect(effectsOf(here)).toEqual(["mail"]);
    const refused = await trial(here, { from_run: "run_none" }).catch((error: object) => error);
    expect(refused).toMatchObject({
      code: "invalid_input",
      details: { errors: [{ path: "given.from_run", code: "run_not_found" }] },
    });
  });

  it("reads the state of the workflow, and changes nothing of it", async () => {
    const here = await exampleEnvironment();
    await create(here, "Report", {
      state: { n: { type: "integer", default: 1 } },
      steps: [set("next", { n: "${{ state.n + 1 }}" }), mail({ text: "n: ${{ steps.next.n }}" })],
      commit: { n: "${{ steps.next.n }}" },
      output: { n: "${{ steps.next.n }}" },
    });
    await here.run("report");
    expect(await trial(here, { send: {} })).toMatchObject({ status: "succeeded", output: { n: 3 } });
    expect(await here.call(getWorkflowState, { workflow_id: "report" })).toMatchObject({ values: { n: 2 } });
  });

  it("needs the scope write, because given outputs are not those of the saved workflow", async () => {
    const here = await exampleEnvironment();
    await create(here, "Report", { steps });
    const run = callAs(here, keyPrincipal(["run"]));
    await expect(run(runWorkflow, { workflow_id: "report", given: {}, wait: 0 })).rejects.toMatchObject({
      code: "missing_scope",
    });
  });

  // No older release runs on PostgreSQL.
  it.skipIf(IS_POSTGRES)(
    "is refused while a copy of an older release runs, which would execute the effects",
    async () => {
      const here = await exampleEnvironment();
      await create(here, "Report", { steps });
      await here.instance.store.transaction((trx) =>
        trx
          .insertInto("executors")
          .values({ id: "old", beat: 1, started_at: iso(here.clock.now()), release: null })
          .execute(),
      );
      await expect(trial(here, {})).rejects.toMatchObject({ code: "upgrade_unfinished" });
    },
  );
});
