/** The catalogue: every operation, sorted by name. REST, MCP and OpenAPI are made from this list. */
import type { AnyTool } from "../src/core/tool.ts";
import { decideApproval } from "./approvals/decide-approval.ts";
import { listApprovals } from "./approvals/list-approvals.ts";
import { describeDatabase } from "./environment/describe-database.ts";
import { describeEnvironment } from "./environment/describe-environment.ts";
import { cancelRun } from "./runs/cancel-run.ts";
import { getRun } from "./runs/get-run.ts";
import { getRunValue } from "./runs/get-run-value.ts";
import { listRuns } from "./runs/list-runs.ts";
import { listWorkflowRuns } from "./runs/list-workflow-runs.ts";
import { retryRun } from "./runs/retry-run.ts";
import { runWorkflow } from "./runs/run-workflow.ts";
import { getSchedule } from "./schedules/get-schedule.ts";
import { pauseSchedule } from "./schedules/pause-schedule.ts";
import { resumeSchedule } from "./schedules/resume-schedule.ts";
import { archiveWorkflow } from "./workflows/archive-workflow.ts";
import { createWorkflow } from "./workflows/create-workflow.ts";
import { getWorkflow } from "./workflows/get-workflow.ts";
import { getWorkflowVersion } from "./workflows/get-workflow-version.ts";
import { listWorkflowVersions } from "./workflows/list-workflow-versions.ts";
import { listWorkflows } from "./workflows/list-workflows.ts";
import { publishWorkflow } from "./workflows/publish-workflow.ts";
import { restoreWorkflow } from "./workflows/restore-workflow.ts";
import { unpublishWorkflow } from "./workflows/unpublish-workflow.ts";
import { updateWorkflow } from "./workflows/update-workflow.ts";
import { validateWorkflow } from "./workflows/validate-workflow.ts";

export const catalogue: readonly AnyTool[] = [
  archiveWorkflow,
  cancelRun,
  createWorkflow,
  decideApproval,
  describeDatabase,
  describeEnvironment,
  getRun,
  getRunValue,
  getSchedule,
  getWorkflow,
  getWorkflowVersion,
  listApprovals,
  listRuns,
  listWorkflowRuns,
  listWorkflowVersions,
  listWorkflows,
  pauseSchedule,
  publishWorkflow,
  restoreWorkflow,
  resumeSchedule,
  retryRun,
  runWorkflow,
  unpublishWorkflow,
  updateWorkflow,
  validateWorkflow,
];
