import type { Scope } from "../../../schemas/actor.ts";

export type { Scope };

/** The server's defaults for a request without scopes. */
export const DEFAULT_SCOPES: readonly Scope[] = ["read", "write", "publish", "run"];

/** The scopes that a key limited to workflows can have. */
export const SCOPES_WITHIN_WORKFLOWS: readonly Scope[] = ["read", "run", "approve"];

export const SCOPE_DESCRIPTIONS: Readonly<Record<Scope, string>> = {
  read: "View workflows, runs and approvals. Part of every key.",
  write: "Create and change drafts, and archive them.",
  publish: "Publish, unpublish and archive what is live; pause and resume schedules.",
  run: "Start, cancel and retry runs.",
  approve: "Approve or decline approvals.",
  admin: "Read the audit log.",
};
