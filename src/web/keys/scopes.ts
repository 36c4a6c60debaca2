import type { Scope } from "../../../schemas/actor.ts";

export type { Scope };

/** As the server chooses when nothing is said. */
export const DEFAULT_SCOPES: readonly Scope[] = ["read", "write", "run"];

export const SCOPE_DESCRIPTIONS: Readonly<Record<Scope, string>> = {
  read: "See workflows, runs and approvals; part of every key.",
  write: "Create, change, publish and archive workflows.",
  run: "Start, cancel and retry runs.",
  approve: "Approve or decline what runs wait for.",
  admin: "Read the audit log.",
};
