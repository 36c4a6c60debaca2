import type { RunActor } from "../../src/core/model.ts";
import type { RunCaller } from "../../src/core/engine-port.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** The actor of a request, as it is recorded with the runs that it starts. */
export function runActor({ actor: { principal, client } }: Pick<ToolContext, "actor">): RunActor {
  const { owner, keyName, lineage } = principal;
  return { owner, keyName, lineage, surface: client.surface, client: client.name };
}

/** Who starts a run: the caller, with what it can find. */
export const runCaller = ({ actor, read }: Pick<ToolContext, "actor" | "read">): RunCaller => ({
  workflows: read.workflows,
  principal: actor.principal,
});
