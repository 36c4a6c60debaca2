/** Produces the lines of an export page by page, so that memory use does not grow with the data. */
import { projectField, projectOf } from "../../../schemas/project.ts";
import type { Workflow } from "../../../schemas/workflow.ts";
import { EVERY_ENTRY, serializeEntry } from "../../../tools/audit/serialize-entry.ts";
import type { AuditEntry } from "../../core/account-ports.ts";
import type { Absence } from "../../core/approval-assignment.ts";
import { iso } from "../../core/clock.ts";
import type { ListPosition, Page, RunRecord, ScheduleRecord, StepRecord } from "../../core/model.ts";
import type { TriggerRecord } from "../../core/trigger-ports.ts";
import type { Readers } from "../../core/ports.ts";
import { projectLines } from "./projects.ts";
import { subscriptionLine } from "./subscriptions.ts";
import { encodeState } from "../../store/step-state-columns.ts";
import {
  FORMAT_VERSION,
  type Line,
  type RecordLine,
  type UserLine,
  type VersionLine,
  type WorkflowLine,
} from "./format.ts";

const PAGE = 200;
/** Before every absence, so that those that are over and not yet deleted are written too. */
const ANY_TIME = iso(0);

export interface ExportSelection {
  /** Finished runs with their inputs and outputs, for evaluation. */
  runs: boolean;
  audit: boolean;
}

/** Yields the lines of an export: everything except secrets. */
export async function* exportLines(
  read: Readers,
  release: string,
  { runs, audit }: ExportSelection,
): AsyncGenerator<Line> {
  let lines = 0;
  for await (const line of allLines(read, release, { runs, audit })) {
    lines += 1;
    yield line;
  }
  yield { kind: "end", lines };
}

async function* allLines(read: Readers, release: string, selection: ExportSelection): AsyncGenerator<Line> {
  yield { kind: "millrace_export", format: FORMAT_VERSION, release };
  yield* projectLines(read.projects);
  for await (const user of paged((after) => read.users.page({ filter: {}, after, limit: PAGE }))) {
    const { id, email, role, status, createdAt, createdBy } = user;
    const line = {
      kind: "user",
      id,
      email,
      role,
      status,
      created_at: createdAt,
      created_by: createdBy,
    } as const;
    yield { ...line, ...absenceField(await read.users.absenceOf(email, ANY_TIME)) };
  }
  for await (const workflow of allWorkflows(read)) yield* workflowLines(read, workflow);
  for await (const one of paged((after) => read.subscriptions.page({ filter: {}, after, limit: PAGE })))
    yield subscriptionLine(one);
  for await (const key of paged((after) => read.apiKeys.page({ filter: {}, after, limit: PAGE }))) {
    if (key.revokedAt !== null) continue;
    const { name, owner, scopes, createdAt, expiresAt } = key;
    yield { kind: "api_key", name, owner, scopes, created_at: createdAt, expires_at: expiresAt };
  }
  if (selection.runs) yield* runLines(read);
  if (selection.audit) yield* auditLines(read);
}

const absenceField = (absence: Absence | undefined): Pick<UserLine, "absence"> =>
  absence === undefined
    ? {}
    : {
        absence: {
          from: absence.startsAt,
          until: absence.endsAt,
          substitute: absence.substitute,
          set_at: absence.setAt,
        },
      };

async function* paged<T>(readPage: (after: ListPosition | null) => Promise<Page<T>>): AsyncGenerator<T> {
  for (let after: ListPosition | null = null; ;) {
    const { items, next }: Page<T> = await readPage(after);
    yield* items;
    if (next === null) return;
    after = next;
  }
}

/** Yields all workflows, the archived ones last. */
async function* allWorkflows({ workflows }: Readers): AsyncGenerator<Workflow> {
  for (const filter of [{}, { status: "archived" } as const])
    yield* paged((after) =>
      workflows.page({ filter, sort: "created_at", after, limit: PAGE, withDefinition: false }),
    );
}

/** Yields a workflow and then its versions, from the first to the newest. Versions never change. */
export async function* workflowLines(
  read: Pick<Readers, "workflows" | "schedules" | "triggers" | "workflowStates" | "projects">,
  workflow: Workflow,
): AsyncGenerator<WorkflowLine | VersionLine> {
  const { id, status, version, published_version, created_at, updated_at, created_by } = workflow;
  const state = await read.workflowStates.find(id);
  const offers = await read.projects.offersOf(id);
  yield {
    kind: "workflow",
    id,
    ...projectField(projectOf(workflow)),
    ...(offers.length > 0 && { offers }),
    status,
    version,
    published_version,
    created_at,
    updated_at,
    created_by,
    schedule: scheduleOf(await read.schedules.find(id)),
    ...triggersOf(await read.triggers.ofWorkflow(id)),
    ...(state !== undefined && { state: { ...state.values } }),
  };
  for (let number = 1; number <= version; number += 1) {
    // Of publications, a file has only which version is live.
    const { backtest: _, ...found } = (await read.workflows.findVersion(id, number))!;
    const text = await read.workflows.versionText(id, number);
    yield {
      kind: "version",
      ...found,
      definition: found.definition ?? null,
      ...(text !== null && { definition_text: text }),
    };
  }
}

const scheduleOf = (schedule: ScheduleRecord | undefined): WorkflowLine["schedule"] =>
  schedule === undefined
    ? null
    : {
        paused: schedule.paused,
        last_at: schedule.lastAt,
        owner: schedule.actor.owner,
        key_name: schedule.actor.keyName,
        lineage: schedule.actor.lineage,
      };

/** Their URLs belong to the instance, so an import makes new ones. */
function triggersOf([first]: readonly TriggerRecord[]): Pick<WorkflowLine, "triggers"> {
  if (first === undefined) return {};
  const { owner, keyName, lineage } = first.actor;
  return { triggers: { owner, key_name: keyName, lineage } };
}

async function* runLines({ runs }: Readers): AsyncGenerator<RecordLine> {
  for await (const run of paged((after) => runs.page({ filter: {}, after, limit: PAGE }))) {
    if (run.finishedAt === null) continue;
    yield runLine(run, await runs.inputs(run.id), await runs.runOutput(run.id));
    for (const step of await runs.steps(run.id)) {
      yield await stepLine(runs, run.id, step);
      for (let from = 0; from < (step.items?.started ?? 0); from += PAGE) {
        const items = await runs.items({ runId: run.id, stepId: step.stepId }, from, PAGE);
        for (const item of items) yield await stepLine(runs, run.id, item);
      }
    }
  }
}

const runLine = (run: RunRecord, inputs: unknown, output: unknown): RecordLine => ({
  kind: "run",
  id: run.id,
  workflow_id: run.workflowId,
  version: run.version,
  definition: run.definition,
  status: run.status,
  trigger: run.trigger,
  retry_of: run.retryOf,
  parent_run: run.parent?.runId ?? null,
  scheduled_for: run.scheduledFor,
  owner: run.actor.owner,
  key_name: run.actor.keyName,
  surface: run.actor.surface,
  client: run.actor.client,
  created_at: run.createdAt,
  started_at: run.startedAt,
  finished_at: run.finishedAt,
  error: run.error,
  inputs,
  output,
});

async function stepLine(runs: Readers["runs"], runId: string, step: StepRecord): Promise<RecordLine> {
  const { stepId, item, state, attempts, startedAt, finishedAt, error, items } = step;
  return {
    kind: "run_step",
    run_id: runId,
    step_id: stepId,
    item,
    // Format version 1 of exports holds the letter that the database holds.
    state: encodeState(state),
    attempts,
    started_at: startedAt,
    finished_at: finishedAt,
    error,
    // The output of a fan-out consists of those of its items, which follow.
    output: items === null ? await runs.output({ runId, stepId, item }) : null,
  };
}

async function* auditLines({ audit }: Readers): AsyncGenerator<RecordLine> {
  for (let before: number | null = null; ;) {
    const entries: AuditEntry[] = await audit.page({ filter: {}, before, limit: PAGE });
    for (const entry of entries) yield { kind: "audit_entry", ...serializeEntry(EVERY_ENTRY, entry) };
    if (entries.length < PAGE) return;
    before = entries.at(-1)!.id;
  }
}
