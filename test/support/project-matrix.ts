/** Two projects with everything that belongs to a project, and callers of every kind who have no rights in the first. */
import { addDelivery, addSubscription } from "./subscription-records.ts";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { Scope } from "../../schemas/actor.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { Role, UserRole } from "../../schemas/user.ts";
import { iso } from "../../src/core/clock.ts";
import type { Writers } from "../../src/core/ports.ts";
import { getBackfill } from "../../tools/backfills/get-backfill.ts";
import { startBackfill } from "../../tools/backfills/start-backfill.ts";
import { backtestWorkflow } from "../../tools/backtests/backtest-workflow.ts";
import { getBulkAction } from "../../tools/bulk-actions/get-bulk-action.ts";
import { startBulkAction } from "../../tools/bulk-actions/start-bulk-action.ts";
import { cancelBacktest } from "../../tools/backtests/cancel-backtest.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { listApprovals } from "../../tools/approvals/list-approvals.ts";
import { setWorkflowState } from "../../tools/workflow-state/set-workflow-state.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { eventually } from "./eventually.ts";
import { temporaryDirectory, testInstance } from "./instance.ts";
import { addInterruption } from "./interruption-records.ts";
import { addProject, memberOf } from "./projects.ts";
import { addUser, callAs, keyPrincipal, signIn } from "./users.ts";

/** The project that the callers have no rights in, and the one that most of them belong to. */
export const THEIRS = "alpha";
export const OWN = "beta";
/** In every text, value and name of the first project. */
export const MARKER = "zebra";

const ALL: readonly Scope[] = Scope.options;

export interface ProjectCaller {
  label: string;
  headers: Record<string, string>;
  /** The API key, for MCP. */
  key?: string;
  /** Whether it has a role in THEIRS. */
  isInsider: boolean;
  /** Whether it belongs to THEIRS, but can use none of its workflows. */
  belongs?: boolean;
  isDefaultAdmin?: boolean;
}

/** The ids of the things of a project. */
export interface ProjectThings {
  workflow: string;
  finishedRun: string;
  waitingRun: string;
  approval: string;
  database: string;
  apiKey: string;
  review: string;
  backfill: string;
  backtest: string;
  bulkAction: string;
  interruption: string;
  subscription: string;
  /** A delivery to a trigger, and one to a subscription. */
  delivery: string;
  outgoing: string;
}

/** Ids that look like those of `things`, and exist nowhere. */
export const missing = ({
  review,
  backfill,
  backtest,
  bulkAction,
  interruption,
  delivery,
  outgoing,
  subscription,
  workflow,
  finishedRun,
  waitingRun,
  approval,
  database,
  apiKey,
}: ProjectThings) => ({
  workflow: `${workflow.slice(0, -1)}q`,
  finishedRun: `${finishedRun.slice(0, -4)}none`,
  waitingRun: `${waitingRun.slice(0, -4)}none`,
  approval: `${approval.slice(0, -4)}none`,
  database: `${database.slice(0, -1)}q`,
  apiKey: `${apiKey.slice(0, -4)}none`,
  review: `${review.slice(0, -4)}none`,
  backfill: `${backfill.slice(0, -4)}none`,
  backtest: `${backtest.slice(0, -4)}none`,
  bulkAction: `${bulkAction.slice(0, -4)}none`,
  interruption: `${interruption.slice(0, -4)}none`,
  subscription: `${subscription.slice(0, -4)}none`,
  delivery: `${delivery.slice(0, -4)}none`,
  outgoing: `${outgoing.slice(0, -4)}none`,
});

const definition = (word: string, database: string) => ({
  inputs: { type: "object", properties: { text: { type: "string", default: `${word} input` } } },
  state: { last: { type: "string", default: `${word} state` } },
  steps: [
    { id: `${word}_step`, type: "set", values: { text: `${word} output \${{ inputs.text }}` } },
    { id: "rows", type: "sql", database, query: "SELECT word FROM words" },
    { id: "ask", type: "approval", if: "inputs.text == 'ask'", message: `${word} question?` },
  ],
  output: { text: `\${{ steps.${word}_step.text }}` },
  schedule: { cron: "0 3 * * *", timezone: "Europe/Berlin" },
  expose_as_tool: true,
  triggers: [{ ...hookOf(word), if: false }],
});

/** Signed, because its workflow asks for an approval. */
const hookOf = (word: string) =>
  ({
    id: `${word}_hook`,
    type: "webhook",
    signature: { scheme: "shared_secret", secret: "hook" },
  }) as const;

export async function openProjectMatrix() {
  const directory = temporaryDirectory();
  const database = (word: string) => {
    const dataset = join(directory, `${word}.db`);
    const db = new DatabaseSync(dataset);
    db.exec(`create table words (word text); insert into words values ('${word} row')`);
    db.close();
    return { name: `${word}_shop`, type: "sqlite", dataset };
  };
  const words: Readonly<Record<string, string>> = { [THEIRS]: MARKER, [OWN]: "horse" };
  const config = {
    databases: Object.values(words).map(database),
    secrets: [{ name: "hook", key_var: "TEST_HOOK", hosts: [] }],
  };
  const env = { TEST_HOOK: "hook secret" };
  const instance = await testInstance({ config, env });
  for (const id of [THEIRS, OWN])
    await addProject(instance, id, { name: `${words[id]} project`, connections: "granted" });
  await change("add_grant", async ({ projects }) => {
    await projects.update(DEFAULT_PROJECT, { connections: "granted" });
    for (const [project, word] of Object.entries(words))
      for (const [kind, name] of [
        ["database", `${word}_shop`],
        ["secret", "hook"],
      ] as const)
        await projects.saveGrant({
          project,
          kind,
          name,
          options: null,
          grantedAt: iso(instance.clock.now()),
          grantedBy: "operator",
        });
  });
  const executor = await instance.executor({ config, env });

  function change(operation: string, effect: (tx: Writers) => Promise<void>): Promise<void> {
    const actor = { principal: keyPrincipal(), client: { surface: "rest", name: "vitest" } } as const;
    return instance.write({ operation, actor, requestId: "req_1" }, effect);
  }

  async function fill(project: string): Promise<ProjectThings> {
    const word = words[project]!;
    const owner = `${word}@example.com`;
    await addUser(instance, { email: owner, role: "member" as Role });
    await addMember(project, owner, "editor");
    const call = callAs(instance, memberOf([project], { owner, scopes: ALL }));
    const made = definition(word, `${word}_shop`);
    const { id } = await call(createWorkflow, {
      name: `Report ${word}`,
      description: `About ${word}`,
      tags: [word],
      definition: made,
      reason: `Because of ${word}`,
    });
    await call(updateWorkflow, { workflow_id: id, description: `More about ${word}` });
    await call(publishWorkflow, { workflow_id: id });
    await call(setWorkflowState, { workflow_id: id, values: { last: `${word} kept` } });
    const finished = await call(runWorkflow, {
      workflow_id: id,
      inputs: { text: `${word} asked` },
      wait: 30,
    });
    const { id: waitingRun } = await call(runWorkflow, { workflow_id: id, inputs: { text: "ask" } });
    const approval = await eventually(
      async () => (await call(listApprovals, { run_id: waitingRun })).items[0],
      "the approval",
    );
    if (finished.status !== "succeeded")
      throw new Error(JSON.stringify(await call(getRun, { run_id: finished.id })));
    const backfill = await call(startBackfill, {
      workflow_id: id,
      from: "2026-10-01",
      to: "2026-10-01",
      reason: `Because of ${word}`,
    });
    // Nothing of the project changes by itself any more.
    await eventually(async () => {
      const { status } = await call(getBackfill, { workflow_id: id, backfill_id: backfill.id });
      return status === "running" ? undefined : status;
    }, "the end of the backfill");
    // It has compared nothing yet, and its replays are runs of the project.
    const backtest = await call(backtestWorkflow, { workflow_id: id, last: 1, wait: 0 });
    await call(cancelBacktest, { workflow_id: id, backtest_id: backtest.id });
    const again = { action: "retry", run_ids: [finished.id], reason: `Because of ${word}` };
    const { digest } = await call(startBulkAction, again);
    const bulkAction = await call(startBulkAction, { ...again, digest, wait: 30 });
    if ((await call(getBulkAction, { bulk_action_id: bulkAction.id })).status !== "finished")
      throw new Error(JSON.stringify(bulkAction));
    const { record } = await instance.key({ owner, name: `${word} key`, projects: [project] });
    await change("update_project", ({ projects }) => projects.update(project, { review: true }));
    await call(updateWorkflow, { workflow_id: id, description: `Soon about ${word}` });
    const asked = await call(publishWorkflow, { workflow_id: id, reason: `Because of ${word}` });
    const [hook] = await instance.read.triggers.ofWorkflow(id);
    const { deliveryId } = await instance.services.engine.triggers.receive(
      { record: hook!, trigger: hookOf(word) },
      { event: { body: { word }, headers: {}, query: {} }, senderId: null, bytes: 10 },
    );
    const subscription = await addSubscription(instance, {
      project,
      name: `${word} alerts`,
      createdBy: owner,
    });
    return {
      delivery: deliveryId,
      subscription,
      outgoing: await addDelivery(instance, subscription, project),
      review: asked.review!.id,
      backfill: backfill.id,
      backtest: backtest.id,
      bulkAction: bulkAction.id!,
      interruption: await addInterruption(instance, waitingRun),
      workflow: id,
      finishedRun: finished.id,
      waitingRun,
      approval: approval.id,
      database: `${word}_shop`,
      apiKey: record.id,
    };
  }

  const addMember = (project: string, email: string, role: Role): Promise<void> =>
    change("set_project_member", (tx) =>
      tx.projects.saveMember({
        project,
        email,
        role,
        addedAt: iso(instance.clock.now()),
        addedBy: "operator",
      }),
    );

  const things = { [THEIRS]: await fill(THEIRS), [OWN]: await fill(OWN) };
  await executor.stop(0);
  const { url } = await instance.rest({ config, env: { ...env, MILLRACE_TRUSTED_PROXIES: "127.0.0.1" } });
  const mcp = await instance.mcp({ config, env });

  let number = 0;
  async function person(label: string, role: UserRole, memberships: Readonly<Record<string, Role>>) {
    const email = `caller-${(number += 1)}@example.com`;
    const user = await addUser(instance, { email, role: role as Role });
    for (const [project, held] of Object.entries(memberships)) await addMember(project, email, held);
    const isInsider = role === "admin" || THEIRS in memberships;
    const { cookie } = await signIn(instance, user);
    const session: ProjectCaller = {
      label: `${label}, signed in`,
      headers: { Cookie: cookie, "Sec-Fetch-Site": "same-origin" },
      isInsider,
    };
    return { email, session, isInsider };
  }
  async function key(
    label: string,
    options: Parameters<typeof instance.key>[0] &
      Partial<Pick<ProjectCaller, "isInsider" | "belongs" | "isDefaultAdmin">>,
  ): Promise<ProjectCaller> {
    const { isInsider = false, belongs = false, isDefaultAdmin = false, ...rest } = options;
    const { value } = await instance.key(rest);
    return { label, headers: { "X-API-Key": value }, key: value, isInsider, belongs, isDefaultAdmin };
  }

  const callers: ProjectCaller[] = [
    { label: "nobody", headers: {}, isInsider: false },
    await key("a key of the operator in the other project", { scopes: [...ALL], projects: [OWN] }),
    await key("a key of the operator in the default project", { scopes: [...ALL], isDefaultAdmin: true }),
    await key("a key with limits", {
      scopes: [...ALL],
      projects: [OWN],
      limits: { workflows: [things[OWN].workflow] },
    }),
    await key("a key of both projects that is limited to a workflow of the other one", {
      scopes: [...ALL],
      projects: [THEIRS, OWN],
      limits: { workflows: [things[OWN].workflow] },
      belongs: true,
    }),
  ];
  for (const scope of ALL)
    callers.push(await key(`a key of the operator with ${scope}`, { scopes: [scope], projects: [OWN] }));
  for (const role of ["viewer", "editor", "admin"] as const) {
    const member = await person(`${role} of the other project`, "member", { [OWN]: role });
    callers.push(
      member.session,
      await key(`the key of the ${role} of the other project`, {
        owner: member.email,
        scopes: [...ALL],
        projects: [OWN],
      }),
      // The owner has no role there, so the key has no scope there.
      await key(`the key of the ${role} of the other project, made for both`, {
        owner: member.email,
        scopes: [...ALL],
        projects: [THEIRS, OWN],
      }),
    );
  }
  for (const role of ["member", "viewer", "editor"] as const) {
    const one = await person(`${role} of the default project`, role, {});
    callers.push(
      one.session,
      await key(`the key of the ${role} of the default project`, {
        owner: one.email,
        scopes: [...ALL],
        projects: [DEFAULT_PROJECT, THEIRS],
      }),
    );
  }
  const both = await person("editor of both projects", "member", { [THEIRS]: "editor", [OWN]: "editor" });
  const admin = await person("admin", "admin", {});
  callers.push(
    await key("the other project's key of an editor of both", {
      owner: both.email,
      scopes: [...ALL],
      projects: [OWN],
    }),
    await key("an admin's key of the default project", {
      owner: admin.email,
      scopes: [...ALL],
      isDefaultAdmin: true,
    }),
    both.session,
    admin.session,
    await key("a key of the project", { scopes: [...ALL], projects: [THEIRS], isInsider: true }),
  );
  return { instance, url, mcpUrl: mcp.url, things, callers };
}

export type ProjectMatrix = Awaited<ReturnType<typeof openProjectMatrix>>;

/** Everything of the project that the callers have no rights in. */
export async function dumpProject(
  { store: { read } }: ProjectMatrix["instance"],
  { workflow }: ProjectThings,
) {
  const runs = await read.selectFrom("runs").selectAll().where("project", "=", THEIRS).execute();
  const ids = runs.map(({ id }) => id);
  return JSON.stringify([
    runs,
    await read.selectFrom("workflows").selectAll().where("project", "=", THEIRS).execute(),
    await read.selectFrom("workflow_versions").selectAll().where("workflow_id", "=", workflow).execute(),
    await read.selectFrom("workflow_states").selectAll().where("workflow_id", "=", workflow).execute(),
    await read.selectFrom("schedules").selectAll().where("workflow_id", "=", workflow).execute(),
    await read.selectFrom("approvals").selectAll().where("run_id", "in", ids).execute(),
    await read.selectFrom("backtests").selectAll().where("project", "=", THEIRS).execute(),
    await read.selectFrom("bulk_actions").selectAll().where("project", "=", THEIRS).execute(),
    await read.selectFrom("interruptions").selectAll().where("project", "=", THEIRS).execute(),
    await read.selectFrom("projects").selectAll().where("id", "=", THEIRS).execute(),
    await read.selectFrom("project_members").selectAll().where("project", "=", THEIRS).execute(),
    await read.selectFrom("grants").selectAll().where("project", "=", THEIRS).execute(),
  ]);
}
