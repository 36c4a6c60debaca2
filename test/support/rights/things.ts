/** What the operations of several nouns share: which things there are, and what follows from a publication or the start of a run. */
import type { ApprovalRecord } from "../../../src/core/model.ts";
import type { Company } from "./company.ts";
import type { Actor, Run, Workflow } from "./made.ts";
import type { Answered } from "./surfaces.ts";
import { contentOf, type Kind } from "./definitions.ts";
import { answerTo, sees } from "./conditions.ts";
import type { Maker } from "./request.ts";

export const live = ({ workflows }: Company): Workflow[] => workflows.filter(({ isArchived }) => !isArchived);

export const isLive = ({ isArchived, published }: Workflow): boolean => !isArchived && published !== null;

export const kindOf = ({ versions, published }: Workflow): Kind =>
  versions[(published ?? versions.length) - 1]!.kind;

export const hasSchedule = (workflow: Workflow): boolean =>
  isLive(workflow) && kindOf(workflow).startsWith("scheduled");

export const hasTrigger = (workflow: Workflow): boolean =>
  isLive(workflow) && contentOf(kindOf(workflow)).trigger !== null;

export const callersOf = ({ workflows }: Company, callee: Workflow): Workflow[] =>
  workflows.filter(({ calls }) => calls === callee);

export const itemsOf = (output: Answered["output"]): { id: string; project?: string }[] =>
  Array.isArray(output) ? output : output.items;

export async function publish(
  company: Company,
  { workflow, version, by, startsFor }: { workflow: Workflow; version: number; by: Actor; startsFor: string },
): Promise<void> {
  const last = workflow.reviews.findLast((review) => review.version === version);
  if (last?.by !== by.subject)
    workflow.reviews.push({ version, by: by.subject, isPersonal: by.kind === "session" });
  if (workflow.published === version) return;
  workflow.published = version;
  await goLive(company, workflow, startsFor);
}

/** What follows from it that a version is live now. */
export async function goLive(company: Company, workflow: Workflow, subject: string): Promise<void> {
  workflow.startsFor = subject;
  // A schedule that is gone leaves no pause behind.
  if (!hasSchedule(workflow)) workflow.isPaused = false;
  await readUrl(company, workflow);
}

export async function readUrl({ instance }: Company, workflow: Workflow): Promise<void> {
  const [record] = await instance.read.triggers.ofWorkflow(workflow.id);
  workflow.url =
    record === undefined ? null : new URL(await instance.services.engine.triggers.url(record)).pathname;
}

/** A run of a version, as the model knows it before it has an id. */
export function runOf(workflow: Workflow, version: number): Run {
  const { kind, content } = workflow.versions[version - 1]!;
  const callee = workflow.calls;
  return {
    id: "",
    project: workflow.project,
    workflow,
    kind,
    version,
    content: callee === null ? content : { ...content, usesDatabase: contentOf(kindOf(callee)).usesDatabase },
    isUnsaved: false,
    isTrial: false,
    isAnonymous: false,
    writers: null,
    causes: new Set(),
    versions: [{ workflow, version }],
  };
}

/** Remembers a run that was started, and the approvals that it and the run that it calls have asked for. */
export async function remember(company: Company, run: Run): Promise<void> {
  await company.settle();
  const { read } = company.instance;
  company.runs.push(run);
  const add = (found: ApprovalRecord | undefined, of: Run): void => {
    if (found === undefined || found.status !== "pending") return;
    const seats = new Map(found.assignees.map((assignee) => [assignee, assignee]));
    company.approvals.push({ id: found.id, run: of, seats });
  };
  add(await read.approvals.findByStep({ runId: run.id, stepId: "ask", item: null }), run);
  const callee = run.workflow?.calls;
  const step = callee && (await read.runs.step({ runId: run.id, stepId: "call", item: null }));
  if (!callee || !step?.childRun) return;
  const version = callee.published!;
  const child: Run = {
    ...run,
    id: step.childRun,
    project: callee.project,
    workflow: callee,
    version,
    kind: kindOf(callee),
    content: contentOf(kindOf(callee)),
    versions: [...run.versions, { workflow: callee, version }],
  };
  add(await read.approvals.findByStep({ runId: child.id, stepId: "ask", item: null }), child);
}

/** The ids of runs in groups by them. */
export const idsInGroups = (output: Answered["output"]): string[] =>
  ((output as { groups?: { by: Record<string, string> }[] }).groups ?? []).map(({ by }) => by["run.id"]!);

const idsOfItems = (output: Answered["output"]): string[] => itemsOf(output).map(({ id }) => id);

export function listed(
  operation: "list_workflows" | "list_runs" | "group_runs",
  all: (company: Company) => readonly (Workflow | Run)[],
  { input = { limit: 100 }, idsOf = idsOfItems }: { input?: object; idsOf?: typeof idsOfItems } = {},
): Maker {
  return (company, pick) => {
    const project = pick.one(company.ownProjects)!;
    return {
      operation,
      input: { project, ...input },
      expected: (actor) => answerTo(company, actor, operation, { project }),
      check(actor, output) {
        const ids = new Set(idsOf(output));
        for (const thing of all(company)) {
          const workflow = "kind" in thing ? (thing.workflow?.id ?? null) : thing.id;
          const wanted = thing.project === project && sees(company, actor, { project, workflow });
          if (wanted && ids.size === 100) continue;
          if (ids.has(thing.id) !== wanted) return `${thing.id} shown: ${!wanted}, expected: ${wanted}`;
        }
        return undefined;
      },
    };
  };
}
