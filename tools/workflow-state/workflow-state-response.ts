/** The state of a workflow as the API returns it. */
import { projectOf } from "../../schemas/project.ts";
import type { WorkflowStateContent } from "../../schemas/workflow-state.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import type { Readers } from "../../src/core/ports.ts";
import { type StateDeclaration, stateValues } from "../../src/core/workflow-state.ts";
import { FIRST_STATE_REVISION, type WorkflowStateRecord } from "../../src/core/workflow-state-ports.ts";

export interface DeclaredState {
  workflowId: string;
  project: string;
  /** The version whose declaration applies: the published one, or the newest if none is published. */
  version: number;
  declaration: StateDeclaration;
}

/**
 * Finds the declaration of a workflow's state.
 * @throws AppError workflow_not_found, state_not_found
 */
export async function findDeclaredState(
  read: Pick<Readers, "workflows" | "runs">,
  workflowId: string,
): Promise<DeclaredState> {
  const workflow = await findWorkflow(read.workflows, workflowId);
  const version = workflow.published_version ?? workflow.version;
  const definition =
    version === workflow.version
      ? workflow.definition
      : await read.runs.versionDefinition(workflow.id, version);
  const declaration = definition?.["state"];
  if (isDeclaration(declaration))
    return { workflowId: workflow.id, project: projectOf(workflow), version, declaration };
  throw new AppError(
    "state_not_found",
    `Version ${version} of "${workflow.id}" has no state. Declare it in the definition, such as ` +
      "state: { last_id: { type: integer, default: 0 } }.",
  );
}

/** Whether a value has the form of a declaration: a draft with issues may hold anything. */
const isDeclaration = (value: unknown): value is StateDeclaration =>
  isObject(value) && Object.values(value).every(isObject);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const toStateContent = (
  { workflowId, version, declaration }: DeclaredState,
  stored: WorkflowStateRecord | undefined,
): WorkflowStateContent => ({
  workflow_id: workflowId,
  version,
  revision: stored?.revision ?? FIRST_STATE_REVISION,
  values: stateValues(declaration, stored?.values ?? {}),
  updated_at: stored?.updatedAt ?? null,
  updated_by: stored?.updatedBy ?? null,
});

/** The revision, and the version whose declaration gives the keys and defaults. */
export const stateEtag = ({ revision, version }: WorkflowStateContent): string => `${revision}-p${version}`;
