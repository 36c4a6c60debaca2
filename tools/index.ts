/** The catalogue: every operation, sorted by name. The REST API, the MCP tools and the OpenAPI document are generated from it. */
import type { AnyTool } from "../src/core/tool.ts";
import { createApiKey } from "./api-keys/create-api-key.ts";
import { listApiKeys } from "./api-keys/list-api-keys.ts";
import { revokeApiKey } from "./api-keys/revoke-api-key.ts";
import { rotateApiKey } from "./api-keys/rotate-api-key.ts";
import { decideApproval } from "./approvals/decide-approval.ts";
import { getApproval } from "./approvals/get-approval.ts";
import { listApprovals } from "./approvals/list-approvals.ts";
import { listAuditLog } from "./audit/list-audit-log.ts";
import { describeDatabase } from "./environment/describe-database.ts";
import { describeEnvironment } from "./environment/describe-environment.ts";
import { cancelRun } from "./runs/cancel-run.ts";
import { getRun } from "./runs/get-run.ts";
import { getRunDefinition } from "./runs/get-run-definition.ts";
import { getRunValue } from "./runs/get-run-value.ts";
import { listRuns } from "./runs/list-runs.ts";
import { listWorkflowRuns } from "./runs/list-workflow-runs.ts";
import { retryRun } from "./runs/retry-run.ts";
import { runWorkflow } from "./runs/run-workflow.ts";
import { getSchedule } from "./schedules/get-schedule.ts";
import { pauseSchedule } from "./schedules/pause-schedule.ts";
import { resumeSchedule } from "./schedules/resume-schedule.ts";
import { listSchedules } from "./schedules/list-schedules.ts";
import { endOtherSessions } from "./sessions/end-other-sessions.ts";
import { endSession } from "./sessions/end-session.ts";
import { listSessions } from "./sessions/list-sessions.ts";
import { inviteUser } from "./users/invite-user.ts";
import { listUsers } from "./users/list-users.ts";
import { renewInvitation } from "./users/renew-invitation.ts";
import { resetUserPassword } from "./users/reset-user-password.ts";
import { updateUser } from "./users/update-user.ts";
import { getWorkflowState } from "./workflow-state/get-workflow-state.ts";
import { setWorkflowState } from "./workflow-state/set-workflow-state.ts";
import { allowExposure } from "./workflows/allow-exposure.ts";
import { archiveWorkflow } from "./workflows/archive-workflow.ts";
import { createWorkflow } from "./workflows/create-workflow.ts";
import { getExposure } from "./workflows/get-exposure.ts";
import { getWorkflow } from "./workflows/get-workflow.ts";
import { getWorkflowVersion } from "./workflows/get-workflow-version.ts";
import { listWorkflowVersions } from "./workflows/list-workflow-versions.ts";
import { listWorkflows } from "./workflows/list-workflows.ts";
import { publishWorkflow } from "./workflows/publish-workflow.ts";
import { restoreWorkflow } from "./workflows/restore-workflow.ts";
import { unpublishWorkflow } from "./workflows/unpublish-workflow.ts";
import { updateWorkflow } from "./workflows/update-workflow.ts";
import { validateWorkflow } from "./workflows/validate-workflow.ts";
import { withdrawExposure } from "./workflows/withdraw-exposure.ts";

export const catalogue: readonly AnyTool[] = [
  allowExposure,
  archiveWorkflow,
  cancelRun,
  createApiKey,
  createWorkflow,
  decideApproval,
  describeDatabase,
  describeEnvironment,
  endOtherSessions,
  endSession,
  getApproval,
  getExposure,
  getRun,
  getRunDefinition,
  getRunValue,
  getSchedule,
  getWorkflow,
  getWorkflowState,
  getWorkflowVersion,
  inviteUser,
  listApiKeys,
  listApprovals,
  listAuditLog,
  listRuns,
  listSchedules,
  listSessions,
  listUsers,
  listWorkflowRuns,
  listWorkflowVersions,
  listWorkflows,
  pauseSchedule,
  publishWorkflow,
  renewInvitation,
  resetUserPassword,
  restoreWorkflow,
  resumeSchedule,
  retryRun,
  revokeApiKey,
  rotateApiKey,
  runWorkflow,
  setWorkflowState,
  unpublishWorkflow,
  updateUser,
  updateWorkflow,
  validateWorkflow,
  withdrawExposure,
];
