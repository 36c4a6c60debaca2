/** Calls of applications that lack a scope which the person could grant: the client learns which scopes to ask for. */
import { Scope } from "../../../schemas/actor.ts";
import { scopesOf } from "../../core/access.ts";
import { AppError } from "../../core/errors.ts";
import type { Principal } from "../../core/principal.ts";

/** The refusal of a call that names the scopes with which the client asks the person again (RFC 6750, section 3.1). */
export class InsufficientScope extends AppError {
  /** The scopes that the application has, and the missing one: a new token replaces the old one. */
  readonly scopes: readonly Scope[];

  constructor(subject: string, missing: Scope, scopes: readonly Scope[]) {
    super(
      "missing_scope",
      `${subject} needs the scope "${missing}", which this application was not granted (it has ${scopes.filter((scope) => scope !== missing).join(", ")}). ` +
        "Connect it again, and allow this scope.",
      {
        errors: [
          { path: "", code: "missing_scope", message: `needs the scope ${missing}`, allowed: [missing] },
        ],
      },
    );
    this.scopes = scopes;
  }
}

/**
 * Refuses the call of a tool for which an application lacks the scope, if the person who connected it has that scope now.
 * Others get an error as the result of the call: they gain nothing by asking again.
 * @throws InsufficientScope
 */
export function requireGrantedScope(
  { application, scopes, access }: Principal,
  tool: string,
  scope: Scope | undefined,
): void {
  if (application !== true || scope === undefined || scopes.has(scope)) return;
  const owner = access.key?.owner;
  if (owner === undefined || !scopesOf(owner).has(scope)) return;
  throw new InsufficientScope(
    tool,
    scope,
    Scope.options.filter((one) => one === scope || scopes.has(one)),
  );
}
