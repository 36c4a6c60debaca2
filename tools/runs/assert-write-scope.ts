import { scopesIn } from "../../src/core/access.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/**
 * Asserts that a caller may write in a project, before it runs something that is not saved: that is new code, which the scope
 * run does not allow.
 * @param explanation what needs the scope and what to do instead, in sentences
 * @throws AppError missing_scope
 */
export function assertWriteScope(
  { actor }: Pick<ToolContext, "actor">,
  project: string,
  explanation: string,
): void {
  if (scopesIn(actor.principal.access, project).has("write")) return;
  const message = "needs a key with the scope write";
  throw new AppError("missing_scope", explanation, {
    errors: [{ path: "", code: "missing_scope", message, allowed: ["write"] }],
  });
}
