/** Applies workflow files to a server elsewhere, one operation after the other. */
import type { z } from "zod";
import type { DetailedWorkflow, Workflow, WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { getProject } from "../../../tools/projects/get-project.ts";
import { archiveWorkflow } from "../../../tools/workflows/archive-workflow.ts";
import { createWorkflow } from "../../../tools/workflows/create-workflow.ts";
import { getWorkflow } from "../../../tools/workflows/get-workflow.ts";
import { listWorkflows } from "../../../tools/workflows/list-workflows.ts";
import { updateWorkflow } from "../../../tools/workflows/update-workflow.ts";
import { AppError } from "../../core/errors.ts";
import { callersLeftBehind } from "../callers-left-behind.ts";
import { type ApplyPlan, type ApplyTarget, calleesFirst, type FileWorkflow } from "../apply-target.ts";
import type { Caller } from "../caller.ts";
import { withAdvice } from "../io.ts";
import { allOf } from "../project-output.ts";
import { sourceOf } from "../workflow-files.ts";
import { dependsOnChanges } from "./changed-callees.ts";
import { readWorkflowFile } from "./check-file.ts";
import { remoteCaller } from "./remote-caller.ts";
import type { RemoteServer } from "./server.ts";

/** @param pending the workflows of the files that were read so far, by id */
export function serverTarget(server: RemoteServer, pending: ReadonlyMap<string, FileWorkflow>): ApplyTarget {
  const caller = remoteCaller(server);
  return {
    call: caller.call,
    canSkipConnections: false,
    assertProject: async (project) => void (await caller.call(getProject, { project })),
    find: (id) => findOn(caller, id),
    sourceOf: ({ id }) => sourceOf(caller, id),
    all: async (project) => {
      const found = await allOf<WorkflowWithDefinition>(caller, listWorkflows, {
        project,
        include: ["definition"],
      });
      return found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    },
    read: (text) => Promise.resolve(readWorkflowFile(text)),
    async check(text, options) {
      const workflow = pending.get(options.selfId!)!;
      const isNew = workflow.current === undefined;
      const { errors } = await caller.checkFile(text, isNew ? { ...options, selfId: undefined } : options);
      // Those that the same files create are checked against it when it is published.
      const found = errors.filter(
        ({ code, message }) => code !== "unknown_workflow" || !pending.has(idIn(message)),
      );
      const isDeferred = dependsOnChanges(workflow, pending);
      return {
        issues: found.filter((issue) => !isDeferred(issue)),
        deferred: found.filter((issue) => isDeferred(issue)),
      };
    },
    callersLeftBehind: (files, archived) =>
      callersLeftBehind({ callers: (id) => publishedCallers(caller, id) }, files, archived),
    commit: (plan, reason) => commit(caller, plan, reason),
    withExecutors: (work) => work(),
  };
}

/** The id at the end of the message of `unknown_workflow`. */
const idIn = (message: string): string => message.split(" ").at(-1)!;

type Detailed = z.output<typeof DetailedWorkflow> & WorkflowWithDefinition;

async function findOn({ call }: Pick<Caller, "call">, id: string): Promise<Detailed | undefined> {
  try {
    return await call<Detailed>(getWorkflow, { workflow_id: id });
  } catch (error) {
    if (error instanceof AppError && error.code === "workflow_not_found") return undefined;
    throw error;
  }
}

/** The published workflows that run one. */
async function publishedCallers(caller: Pick<Caller, "call">, id: string): Promise<string[]> {
  const used = (await findOn(caller, id))?.used_by ?? [];
  const callers = await Promise.all(used.map((user) => findOn(caller, user)));
  return callers.flatMap((found) => (found?.status === "published" ? [found.id] : []));
}

/** Writes one workflow after the other: those first that others run. */
async function commit(
  { call }: Pick<Caller, "call">,
  { added, changed, archived, broken }: ApplyPlan,
  reason: string | null,
): Promise<void> {
  const written = calleesFirst([...added, ...changed]).map(
    ({ id, project, content, source, current }) =>
      () => {
        // The text, so that its comments are kept.
        const fields = { ...content, definition: source ?? content.definition, reason };
        return current === undefined
          ? call<Workflow>(createWorkflow, { id, project, ...fields })
          : call<Workflow>(updateWorkflow, { workflow_id: id, if_match: current.version, ...fields });
      },
  );
  const removed = archived.map(
    ({ id, version }) =>
      () =>
        call<Workflow>(archiveWorkflow, {
          workflow_id: id,
          if_match: version,
          break_callers: [...(broken.get(id) ?? [])],
          ...(reason !== null && { reason }),
        }),
  );
  const changes = [...written, ...removed];
  for (const [index, change] of changes.entries()) {
    try {
      await change();
    } catch (error) {
      if (index === 0) throw error;
      // Without an answer of the server, the change may have been written.
      const least = error instanceof AppError ? "" : "At least ";
      throw withAdvice(
        error,
        `${least}${index} of ${changes.length} changes were applied. Run the command again to apply the others.`,
      );
    }
  }
}
