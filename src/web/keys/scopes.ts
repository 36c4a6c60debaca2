import * as texts from "#texts/keys";
import type { Scope } from "../../../schemas/actor.ts";

export type { Scope };

/** The server's defaults for a request without scopes. */
export const DEFAULT_SCOPES: readonly Scope[] = ["read", "write", "publish", "run"];

/** The scopes that a key limited to workflows can have. */
export const SCOPES_WITHIN_WORKFLOWS: readonly Scope[] = ["read", "run", "approve"];

export const SCOPE_DESCRIPTIONS: Readonly<Record<Scope, string>> = {
  read: texts.scopeRead,
  write: texts.scopeWrite,
  publish: texts.scopePublish,
  run: texts.scopeRun,
  approve: texts.scopeApprove,
  admin: texts.scopeAdmin,
};
