/** The exposure of a workflow as a tool, as operations return it. */
import type { Exposure } from "../../schemas/exposure.ts";
import type { Issue } from "../../schemas/problem.ts";
import type { PartialIssue } from "../../src/core/connections.ts";
import { exposedToolName } from "../../src/core/exposed-tool-name.ts";
import { exposureWarnings } from "../../src/core/exposure-warnings.ts";
import { formatPath } from "../../src/core/issues.ts";
import type { JsonSchema } from "../../src/core/json-schema/index.ts";
import { listInputs } from "../../src/core/listed-inputs/index.ts";
import { detailsOfChange } from "../../src/core/workflow-change-details.ts";
import { exposureOf, isConsentedTo } from "../../src/core/exposure.ts";
import type { ExposureConsent, WorkflowReader, Writers } from "../../src/core/ports.ts";
import { reservedToolNames } from "./reserved-tool-names.ts";

/** Reads whether a workflow is a tool of its own, and what agents would get. */
export async function readExposure(workflows: WorkflowReader, id: string): Promise<Exposure> {
  const request = await workflows.exposureRequest(id);
  if (request === undefined) return { ...NOT_REQUESTED, workflow_id: id };
  const exposure = await exposureOf(workflows, request);
  const isAllowed = isConsentedTo(request, exposure);
  return {
    workflow_id: id,
    state: isAllowed ? "allowed" : "requested",
    version: request.version,
    digest: exposure.digest,
    author: request.author,
    name: request.name,
    description: request.description,
    inputs: (request.definition["inputs"] ?? null) as Exposure["inputs"],
    tool_name: exposedToolName(request, await reservedToolNames()),
    listed_inputs: listInputs(request.definition["inputs"] as JsonSchema | undefined).schema ?? null,
    warnings: exposureWarnings(id, request.definition).map(toIssue),
    effects: exposure.effects,
    read_only: exposure.readOnly,
    allowed_by: isAllowed ? request.consent!.allowedBy : null,
    allowed_at: isAllowed ? request.consent!.allowedAt : null,
  };
}

const toIssue = (warning: PartialIssue): Issue => {
  const { severity: _, path = [], ...issue } = warning;
  return Object.assign(issue, { path: formatPath(path) });
};

/**
 * Records a consent, or withdraws it, with its audit entry.
 * @param outcome of the operation, as for `recordAudit`
 */
export async function saveConsent(
  tx: Pick<Writers, "workflows" | "recordAudit">,
  id: string,
  consent: ExposureConsent | null,
  outcome?: string,
): Promise<void> {
  const before = await tx.workflows.exposureConsent(id);
  if (consent === null) await tx.workflows.withdrawExposure(id);
  else await tx.workflows.allowExposure(id, consent);
  await tx.recordAudit(id, outcome, {
    details: detailsOfChange({ before: { consent: before }, after: { consent } }),
  });
}

const NOT_REQUESTED: Omit<Exposure, "workflow_id"> = {
  state: "not_requested",
  version: null,
  digest: null,
  author: null,
  name: null,
  description: null,
  inputs: null,
  tool_name: null,
  listed_inputs: null,
  warnings: [],
  effects: [],
  read_only: false,
  allowed_by: null,
  allowed_at: null,
};
