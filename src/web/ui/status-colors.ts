/** The colours of statuses, by the names of the palette. */
import type { ApprovalStatus, RunStatus, StepStatus } from "../../../schemas/run.ts";

export type StatusColor = "gray" | "blue" | "yellow" | "green" | "red";

export const STATUS_COLORS: Readonly<Record<RunStatus | StepStatus, StatusColor>> = {
  queued: "gray",
  pending: "gray",
  running: "blue",
  waiting: "yellow",
  succeeded: "green",
  failed: "red",
  skipped: "gray",
  cancelled: "gray",
};

export const APPROVAL_COLORS: Readonly<Record<ApprovalStatus, StatusColor>> = {
  pending: "yellow",
  approved: "green",
  declined: "red",
  expired: "gray",
  cancelled: "gray",
};
