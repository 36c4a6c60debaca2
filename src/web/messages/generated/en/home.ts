/** Generated from src/web/messages/en/home.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { formatNumber } from "../../format.ts";
import { rich } from "../../rich.ts";

export const failingWorkflows = "Failing workflows";
export const noneFailing = "No workflow has failed in 14 days.";
export const lastFailure = ({ time }: { time: ReactNode }): ReactNode =>
  rich("last failure ", time);
export const failedCount = ({ count }: { count: number }): string =>
  `${formatNumber(count)} failed`;
export const failingCapped = "Counted are the newest 1,000 failed runs.";
export const introduction = "An agent starts from scratch every time. A workflow is written once, checked, and then runs the same way for everyone. Nothing has run yet. There are three ways to start.";
export const withAgent = "With an agent";
export const withAgentHelp = ({ key }: { key: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Connect an agent over MCP with an ", key("API key"), ", then tell it what you need.");
export const claudeCommand = "command for Claude Code";
export const connectAnother = "Connect another client";
export const withScript = "With a script";
export const withScriptHelp = "Every operation is an HTTP request with an API key.";
export const curlCommand = "curl command";
export const apiReference = "API reference";
export const inBrowser = "In the browser";
export const startFromTemplate = "Start from a template, change it, and run it.";
export const runExisting = "Run an existing workflow and follow its steps.";
export const runWorkflow = ({ name }: { name: string | number }): string =>
  `Run ${name}`;
export const newWorkflow = "New workflow";
export const allWorkflows = "All workflows";
export const allOf = ({ title }: { title: string | number }): string =>
  `${title}: all`;
export const all = "All";
export const title = "Home";
export const recentFailures = "Recent failures";
export const noFailures = "No failures in the last 24 hours.";
export const noErrorMessage = "no error message";
export const recentRuns = "Recent runs";
export const noRuns = "No runs yet.";
export const upcoming = "Upcoming";
export const noSchedules = "No published workflow has a schedule.";
export const paused = ({ cron, timezone }: { cron: string | number; timezone: string | number }): string =>
  `paused (${cron}, ${timezone})`;
export const overdueWorkflows = "Overdue workflows";
export const overdue = ({ workflow, every, time }: { workflow: ReactNode; every: string | number; time: ReactNode }): ReactNode =>
  rich(workflow, " must succeed every ", every, ", and was due ", time);
export const needsYourApproval = "Needs your approval";
export const pendingApprovals = "Pending approvals";
export const noneForYou = "No approvals wait for your decision.";
export const nonePending = "No approvals are pending.";
export const more = ({ count }: { count: number }): string =>
  `… and ${formatNumber(count)} more`;
export const failedInDay = "failed in 24 hours";
export const approvalsPending = "approvals pending";
export const inProgress = "in progress";
export const succeededInDay = "succeeded in 24 hours";
export const trendTitle = "Runs in 14 days";
export const runsByDay = "Runs by day";
export const today = "today";
export const outcome = ({ outcome }: { outcome: "failed" | "succeeded" }): string =>
  (outcome === "succeeded" ? "succeeded" : "failed");
export const shortcuts = "Favourites and recent";
export const noShortcuts = "Workflows with a star, and the pages that you opened last, appear here.";
export const dayCounts = ({ day, succeeded, failed }: { day: string | number; succeeded: string | number; failed: string | number }): string =>
  `${day}: ${succeeded} succeeded, ${failed} failed`;
