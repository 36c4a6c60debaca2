import type { Scope } from "../../../schemas/actor.ts";

export type { Scope };

/** The server's defaults for a request without scopes. */
export const DEFAULT_SCOPES: readonly Scope[] = ["read", "write", "run"];

export const SCOPE_DESCRIPTIONS: Readonly<Record<Scope, string>> = {
  read: "View workflows, runs and approvals. Part of every key.",
  write: "Create, change, publish and archive workflows.",
  run: "Start, cancel and retry runs.",
  approve: "Approve or decline approvals.",
  admin: "Read the audit log.",
};
