/** The catalogue: every operation, sorted by name. REST, MCP and OpenAPI are made from this list. */
import type { AnyTool } from "../src/core/tool.ts";
import { archiveWorkflow } from "./workflows/archive-workflow.ts";
import { createWorkflow } from "./workflows/create-workflow.ts";
import { getWorkflow } from "./workflows/get-workflow.ts";
import { getWorkflowVersion } from "./workflows/get-workflow-version.ts";
import { listWorkflowVersions } from "./workflows/list-workflow-versions.ts";
import { listWorkflows } from "./workflows/list-workflows.ts";
import { restoreWorkflow } from "./workflows/restore-workflow.ts";
import { updateWorkflow } from "./workflows/update-workflow.ts";

export const catalogue: readonly AnyTool[] = [
  archiveWorkflow,
  createWorkflow,
  getWorkflow,
  getWorkflowVersion,
  listWorkflowVersions,
  listWorkflows,
  restoreWorkflow,
  updateWorkflow,
];
