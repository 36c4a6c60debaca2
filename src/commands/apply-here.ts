/** Applies workflow files to the state of this machine, in one transaction. */
import { DEFAULT_PROJECT, projectField } from "../../schemas/project.ts";
import { COMMAND_LINE } from "../../schemas/actor.ts";
import { MAX_VERSION } from "../../schemas/workflow.ts";
import { findProject } from "../../tools/projects/find-project.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { newRequestId } from "../core/ids.ts";
import type { Readers } from "../core/ports.ts";
import { callersLeftBehind } from "./callers-left-behind.ts";
import type { ApplyPlan, ApplyTarget, FileWorkflow } from "./apply-target.ts";
import { withExecutor, inProcessExecutor } from "./in-process-executor.ts";
import { CommandError, type Io } from "./io.ts";
import { OPERATOR_ACTOR, withOperator, type Operator } from "./operator.ts";
import { allWorkflows } from "./workflow-files.ts";

/** Does `work` with the state of this machine. @param pending the workflows of the files that were read so far, by id */
export async function withStateHere<T>(
  io: Io,
  config: string | undefined,
  pending: Map<string, FileWorkflow>,
  work: (target: ApplyTarget) => Promise<T>,
): Promise<T> {
  const own = inProcessExecutor();
  const wrapReaders = (read: Readers) => withPending(read, pending);
  return withOperator(io, { config, executors: own, wrapReaders }, (operator) => {
    const { services, instance, call } = operator;
    const caller = { owner: COMMAND_LINE, signal: new AbortController().signal, allowFileFields: true };
    return work({
      call,
      canSkipConnections: true,
      assertProject: async (id) => void (await findProject(services.read.projects, id)),
      find: (id) => services.read.workflows.find(id),
      sourceOf: ({ id, version }) => services.read.workflows.source(id, version),
      all: (project) => allWorkflows(instance.read.workflows, project),
      read: (text) =>
        services.engine.check(text, { checkConnections: false, project: DEFAULT_PROJECT, ...caller }),
      check: async (text, { project, selfId, checkConnections = true }) => {
        const options = { checkConnections, project, ...caller };
        const withId = selfId === undefined ? options : { ...options, selfId };
        return { issues: (await services.engine.check(text, withId)).errors, deferred: [] };
      },
      callersLeftBehind: (files, archived) => callersLeftBehind(instance.read.workflows, files, archived),
      async commit(plan, reason) {
        await commit(operator, plan, reason);
        // From now on they exist.
        pending.clear();
      },
      withExecutors: (publish) => withExecutor(io, operator, own, publish),
    });
  });
}

/** Shows the pending workflows as if they existed: a file may run another workflow that is new in the same directory. */
function withPending(read: Readers, pending: ReadonlyMap<string, FileWorkflow>): Readers {
  return {
    ...read,
    workflows: {
      ...read.workflows,
      async find(id) {
        const found = await read.workflows.find(id);
        const workflow = pending.get(id);
        if (workflow === undefined) return found;
        const blank = { created_at: "", updated_at: "", created_by: "" };
        return {
          ...blank,
          ...found,
          ...workflow.content,
          ...projectField(workflow.project),
          id,
          status: "draft",
          version: MAX_VERSION,
          published_version: null,
        };
      },
      recentIds: async (limit) =>
        [...pending.keys(), ...(await read.workflows.recentIds(limit))].slice(0, limit),
    },
    runs: {
      ...read.runs,
      versionDefinition: (id, version) =>
        version === MAX_VERSION && pending.has(id)
          ? Promise.resolve(pending.get(id)!.content.definition)
          : read.runs.versionDefinition(id, version),
    },
  };
}

async function commit(
  { services, instance }: Operator,
  { added, changed, archived }: ApplyPlan,
  reason: string | null,
): Promise<void> {
  const actor = OPERATOR_ACTOR;
  const intent = { operation: "apply_workflows", actor, requestId: newRequestId() };
  await services.write(intent, async ({ workflows, schedules, expectations }) => {
    for (const { id, project, content, source } of added)
      await workflows.insert(content, { kind: "created", reason, actor, source }, { id, project });
    for (const { current, content, source } of changed) {
      await expectUnchanged(current);
      const change = { kind: "updated", reason, actor, source } as const;
      await workflows.addVersion(current, { ...current, ...content }, change);
    }
    for (const current of archived) {
      await expectUnchanged(current);
      await workflows.addVersion(
        current,
        { ...current, status: "archived" },
        { kind: "archived", reason, actor },
      );
      await schedules.remove(current.id);
      await expectations.remove(current.id);
    }

    async function expectUnchanged({ id, version, status }: WorkflowWithDefinition): Promise<void> {
      const now = await workflows.find(id);
      if (now?.version !== version || now.status !== status)
        throw new CommandError(
          `"${id}" was changed meanwhile. Nothing was applied. Run the command again to see the new changes.`,
        );
    }
  });
  instance.log.info(
    { added: added.length, changed: changed.length, archived: archived.length },
    "workflows applied",
  );
}
