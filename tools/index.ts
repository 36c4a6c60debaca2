/** The catalogue: every operation, sorted by name. The REST API, the MCP tools and the OpenAPI document are generated from it. */
import type { AnyTool } from "../src/core/tool.ts";
import { endAbsence } from "./absences/end-absence.ts";
import { getAbsence } from "./absences/get-absence.ts";
import { setAbsence } from "./absences/set-absence.ts";
import { createApiKey } from "./api-keys/create-api-key.ts";
import { describeKey } from "./api-keys/describe-key.ts";
import { listApiKeys } from "./api-keys/list-api-keys.ts";
import { revokeApiKey } from "./api-keys/revoke-api-key.ts";
import { rotateApiKey } from "./api-keys/rotate-api-key.ts";
import { decideApproval } from "./approvals/decide-approval.ts";
import { delegateApproval } from "./approvals/delegate-approval.ts";
import { getApproval } from "./approvals/get-approval.ts";
import { listApprovals } from "./approvals/list-approvals.ts";
import { exportAuditLog } from "./audit/export-audit-log.ts";
import { listAuditLog } from "./audit/list-audit-log.ts";
import { backtestWorkflow } from "./backtests/backtest-workflow.ts";
import { cancelBulkAction } from "./bulk-actions/cancel-bulk-action.ts";
import { getBulkAction } from "./bulk-actions/get-bulk-action.ts";
import { listBulkActionRuns } from "./bulk-actions/list-bulk-action-runs.ts";
import { listBulkActions } from "./bulk-actions/list-bulk-actions.ts";
import { startBulkAction } from "./bulk-actions/start-bulk-action.ts";
import { getInterruption } from "./interruptions/get-interruption.ts";
import { listInterruptions } from "./interruptions/list-interruptions.ts";
import { settleInterruption } from "./interruptions/settle-interruption.ts";
import { cancelBacktest } from "./backtests/cancel-backtest.ts";
import { getBacktest } from "./backtests/get-backtest.ts";
import { listBacktestRuns } from "./backtests/list-backtest-runs.ts";
import { listBacktests } from "./backtests/list-backtests.ts";
import { cancelBackfill } from "./backfills/cancel-backfill.ts";
import { getBackfill } from "./backfills/get-backfill.ts";
import { listBackfills } from "./backfills/list-backfills.ts";
import { previewBackfill } from "./backfills/preview-backfill.ts";
import { startBackfill } from "./backfills/start-backfill.ts";
import { describeDatabase } from "./environment/describe-database.ts";
import { queryDatabase } from "./environment/query-database.ts";
import { describeEnvironment } from "./environment/describe-environment.ts";
import { getKeyChanges } from "./key-changes/get-key-changes.ts";
import { revertKeyChanges } from "./key-changes/revert-key-changes.ts";
import { addGrant } from "./projects/add-grant.ts";
import { listGrants } from "./projects/list-grants.ts";
import { removeGrant } from "./projects/remove-grant.ts";
import { createProject } from "./projects/create-project.ts";
import { deleteProject } from "./projects/delete-project.ts";
import { getProject } from "./projects/get-project.ts";
import { listProjectMembers } from "./projects/list-project-members.ts";
import { listProjects } from "./projects/list-projects.ts";
import { removeProjectMember } from "./projects/remove-project-member.ts";
import { setProjectMember } from "./projects/set-project-member.ts";
import { updateProject } from "./projects/update-project.ts";
import { cancelRun } from "./runs/cancel-run.ts";
import { compareRuns } from "./runs/compare-runs.ts";
import { getRun } from "./runs/get-run.ts";
import { getRunDefinition } from "./runs/get-run-definition.ts";
import { getRunValue } from "./runs/get-run-value.ts";
import { groupRuns } from "./runs/group-runs.ts";
import { listRuns } from "./runs/list-runs.ts";
import { listWorkflowRuns } from "./runs/list-workflow-runs.ts";
import { retryRun } from "./runs/retry-run.ts";
import { runStep } from "./runs/run-step.ts";
import { runWorkflow } from "./runs/run-workflow.ts";
import { decideReview } from "./reviews/decide-review.ts";
import { getReview } from "./reviews/get-review.ts";
import { listReviews } from "./reviews/list-reviews.ts";
import { withdrawReview } from "./reviews/withdraw-review.ts";
import { getSchedule } from "./schedules/get-schedule.ts";
import { pauseSchedule } from "./schedules/pause-schedule.ts";
import { getTriggerDelivery } from "./triggers/get-trigger-delivery.ts";
import { listTriggerDeliveries } from "./triggers/list-trigger-deliveries.ts";
import { getTriggers } from "./triggers/get-triggers.ts";
import { redeliverTriggerDelivery } from "./triggers/redeliver-trigger-delivery.ts";
import { rotateTrigger } from "./triggers/rotate-trigger.ts";
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
import { listStateChanges } from "./workflow-state/list-state-changes.ts";
import { resetWorkflowState } from "./workflow-state/reset-workflow-state.ts";
import { setWorkflowState } from "./workflow-state/set-workflow-state.ts";
import { allowExposure } from "./workflows/allow-exposure.ts";
import { archiveWorkflow } from "./workflows/archive-workflow.ts";
import { createWorkflow } from "./workflows/create-workflow.ts";
import { getExposure } from "./workflows/get-exposure.ts";
import { getOffer } from "./workflows/get-offer.ts";
import { getWorkflow } from "./workflows/get-workflow.ts";
import { getWorkflowVersion } from "./workflows/get-workflow-version.ts";
import { listOfferedWorkflows } from "./workflows/list-offered-workflows.ts";
import { listWorkflowVersions } from "./workflows/list-workflow-versions.ts";
import { listWorkflows } from "./workflows/list-workflows.ts";
import { moveWorkflow } from "./workflows/move-workflow.ts";
import { offerWorkflow } from "./workflows/offer-workflow.ts";
import { planWorkflow } from "./workflows/plan-workflow.ts";
import { publishWorkflow } from "./workflows/publish-workflow.ts";
import { restoreWorkflow } from "./workflows/restore-workflow.ts";
import { unpublishWorkflow } from "./workflows/unpublish-workflow.ts";
import { updateWorkflow } from "./workflows/update-workflow.ts";
import { validateWorkflow } from "./workflows/validate-workflow.ts";
import { withdrawExposure } from "./workflows/withdraw-exposure.ts";
import { createSubscription } from "./subscriptions/create-subscription.ts";
import { deleteSubscription } from "./subscriptions/delete-subscription.ts";
import { getDelivery } from "./subscriptions/get-delivery.ts";
import { getSubscription } from "./subscriptions/get-subscription.ts";
import { listDeliveries } from "./subscriptions/list-deliveries.ts";
import { listSubscriptions } from "./subscriptions/list-subscriptions.ts";
import { redeliver } from "./subscriptions/redeliver.ts";
import { rotateSubscriptionSecret } from "./subscriptions/rotate-subscription-secret.ts";
import { testSubscription } from "./subscriptions/test-subscription.ts";
import { updateSubscription } from "./subscriptions/update-subscription.ts";
import { getOverdueWorkflows } from "./workflows/get-overdue-workflows.ts";

export const catalogue: readonly AnyTool[] = [
  addGrant,
  allowExposure,
  archiveWorkflow,
  backtestWorkflow,
  cancelBackfill,
  cancelBacktest,
  cancelBulkAction,
  cancelRun,
  compareRuns,
  createApiKey,
  createProject,
  createSubscription,
  createWorkflow,
  decideApproval,
  decideReview,
  delegateApproval,
  deleteProject,
  deleteSubscription,
  describeDatabase,
  describeEnvironment,
  describeKey,
  endAbsence,
  endOtherSessions,
  endSession,
  exportAuditLog,
  getAbsence,
  getApproval,
  getBackfill,
  getBacktest,
  getBulkAction,
  getDelivery,
  getExposure,
  getInterruption,
  getKeyChanges,
  getOffer,
  getOverdueWorkflows,
  getProject,
  getReview,
  getRun,
  getRunDefinition,
  getRunValue,
  getSchedule,
  getSubscription,
  getTriggerDelivery,
  getTriggers,
  getWorkflow,
  getWorkflowState,
  getWorkflowVersion,
  groupRuns,
  inviteUser,
  listApiKeys,
  listApprovals,
  listAuditLog,
  listBackfills,
  listBacktestRuns,
  listBacktests,
  listBulkActionRuns,
  listBulkActions,
  listDeliveries,
  listGrants,
  listInterruptions,
  listOfferedWorkflows,
  listProjectMembers,
  listProjects,
  listReviews,
  listRuns,
  listSchedules,
  listSessions,
  listStateChanges,
  listSubscriptions,
  listTriggerDeliveries,
  listUsers,
  listWorkflowRuns,
  listWorkflowVersions,
  listWorkflows,
  moveWorkflow,
  offerWorkflow,
  pauseSchedule,
  planWorkflow,
  previewBackfill,
  publishWorkflow,
  queryDatabase,
  redeliver,
  redeliverTriggerDelivery,
  removeGrant,
  removeProjectMember,
  renewInvitation,
  resetUserPassword,
  resetWorkflowState,
  restoreWorkflow,
  resumeSchedule,
  retryRun,
  revertKeyChanges,
  revokeApiKey,
  rotateApiKey,
  rotateSubscriptionSecret,
  rotateTrigger,
  runStep,
  runWorkflow,
  setAbsence,
  setProjectMember,
  setWorkflowState,
  settleInterruption,
  startBackfill,
  startBulkAction,
  testSubscription,
  unpublishWorkflow,
  updateProject,
  updateSubscription,
  updateUser,
  updateWorkflow,
  validateWorkflow,
  withdrawExposure,
  withdrawReview,
];
