/** Runs: of versions, of single steps, with given outputs, and their retries. */
import type { Company } from "./company.ts";
import type { Run } from "./made.ts";
import { contentOf, definitionOf } from "./definitions.ts";
import { answerTo, showsEventUrl } from "./conditions.ts";
import { causes, has } from "./model.ts";
import type { Makers, Pick, Request } from "./request.ts";
import { kindOf, listed, idsInGroups, live, remember, runOf } from "./things.ts";

const ENDED: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled"]);

const NO_RUN: Omit<Run, "project" | "isUnsaved" | "writers"> = {
  id: "",
  workflow: null,
  kind: "plain",
  version: 0,
  content: contentOf("plain"),
  isTrial: false,
  isAnonymous: false,
  causes: new Set(),
  versions: [],
};

const statusOf = async ({ instance }: Company, { id }: Run): Promise<string> =>
  (await instance.read.runs.find(id))!.status;

export const RUN_OPERATIONS: Makers = [
  [
    26,
    "run_workflow",
    (company, pick) => {
      const asking = live(company).filter((one) => contentOf(kindOf(one)).asks);
      const workflow = pick.one(asking.length > 0 && pick.chance(0.6) ? asking : live(company));
      if (workflow === undefined) return undefined;
      const { id, versions, published } = workflow;
      const given = pick.chance(0.15) ? { given: { note: { mark: 1 } } } : {};
      const isTrial = "given" in given;
      const requested = pick.chance(0.3) ? { version: 1 + pick.number(versions.length) } : {};
      const version = requested.version ?? published ?? versions.length;
      const run: Run = { ...runOf(workflow, version), isUnsaved: isTrial, isTrial };
      return {
        operation: "run_workflow",
        input: { workflow_id: id, wait: 0, ...requested, ...given },
        expected: (actor) => answerTo(company, actor, "run_workflow", { workflow, run }),
        after: (actor, output) => remember(company, { ...run, id: output.id, causes: causes.ofStart(actor) }),
      };
    },
  ],
  [
    3,
    "run_step",
    (company, pick) => {
      const project = pick.one(company.projects)!;
      const step = { type: "set", values: { n: pick.number(1_000) } };
      const run: Run = {
        ...NO_RUN,
        project,
        isUnsaved: true,
        writers: new Set(),
      };
      return {
        operation: "run_step",
        input: { step, project, wait: 0 },
        expected: (actor) => answerTo(company, actor, "run_step", { project, run }),
        after: (actor, output) =>
          remember(company, {
            ...run,
            id: output.id,
            causes: causes.ofStart(actor),
            writers: new Set([actor.subject]),
          }),
      };
    },
  ],
  [12, "retry_run", retry],
  [
    3,
    "cancel_run",
    async (company, pick) => {
      const run = await chooseRun(company, pick, false);
      if (run === undefined) return undefined;
      return {
        operation: "cancel_run",
        input: { run_id: run.id },
        expected: (actor) => answerTo(company, actor, "cancel_run", { run }),
        after: () => company.settle(),
      };
    },
  ],
  [
    5,
    "get_run",
    async (company, pick) => {
      const expecting = company.runs.filter(({ kind }) => kind === "with an event");
      const run = pick.one(pick.chance(0.4) ? expecting : company.runs);
      if (run === undefined) return undefined;
      const status = await statusOf(company, run);
      const waits = run.kind === "with an event" && !ENDED.has(status);
      return {
        operation: "get_run",
        input: { run_id: run.id, detail: "steps" },
        expected: (actor) => answerTo(company, actor, "get_run", { run }),
        aspect: (actor) => `${has(company, actor, run.project, "run")}`,
        check(actor, { steps }) {
          const shown = (steps as { event_url?: string }[]).some((step) => step.event_url !== undefined);
          const wanted = waits && showsEventUrl(company, actor, run);
          return shown === wanted ? undefined : `event_url shown: ${shown}, expected: ${wanted}`;
        },
      };
    },
  ],
  [2, "list_runs", listed("list_runs", ({ runs }) => runs)],
  [
    2,
    "group_runs",
    listed("group_runs", ({ runs }) => runs, {
      input: { group_by: ["run.id"], max_groups: 100 },
      idsOf: idsInGroups,
    }),
  ],
];

export async function chooseRun(
  company: Company,
  pick: Pick,
  isEnded: boolean,
  fits: (run: Run) => boolean = () => true,
): Promise<Run | undefined> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const run = pick.one(company.runs.filter(fits));
    if (run !== undefined && ENDED.has(await statusOf(company, run)) === isEnded) return run;
  }
  return undefined;
}

async function retry(company: Company, pick: Pick): Promise<Request | undefined> {
  const run = await chooseRun(company, pick, true, ({ workflow }) => workflow?.isArchived !== true);
  if (run === undefined) return undefined;
  const { workflow } = run;
  const isCall = workflow !== null && workflow.calls !== null;
  const way =
    workflow === null || isCall
      ? "plain"
      : pick.one(["plain", "plain", "patch", "definition", "version"] as const)!;
  const inputs =
    workflow !== null && !isCall && pick.chance(0.4) ? { inputs: { n: 1 + pick.number(9) } } : {};
  const kind = pick.one(["plain", "asks", "database"] as const)!;
  const version = workflow === null ? 0 : 1 + pick.number(workflow.versions.length);
  const changes = {
    plain: {},
    patch: { patch: [{ op: "update_step", id: "note", set: { values: { mark: pick.number(1_000) } } }] },
    definition: { definition: definitionOf(kind, pick.number(1_000), company.assignees) },
    version: { version },
  }[way];
  const isOwn = way === "patch" || way === "definition" || (way === "plain" && run.writers !== null);
  const base = way === "version" ? runOf(workflow!, version) : isCall ? runOf(workflow, run.version) : run;
  const next: Run = {
    ...base,
    ...(way === "definition" && { kind, content: contentOf(kind) }),
    // The workflow may have moved since.
    project: workflow?.project ?? run.project,
    isUnsaved: isOwn || run.isTrial,
    isTrial: run.isTrial,
    isAnonymous: run.isAnonymous,
    writers: isOwn ? (run.writers ?? new Set()) : null,
  };
  return {
    operation: "retry_run",
    input: { run_id: run.id, confirm: true, wait: 0, ...changes, ...inputs },
    expected: (actor) => answerTo(company, actor, "retry_run", { run, next }),
    after: (actor, output) =>
      remember(company, {
        ...next,
        id: output.id,
        writers: next.writers && new Set([...next.writers, actor.subject]),
        causes: causes.ofRetry(actor, run),
      }),
  };
}
