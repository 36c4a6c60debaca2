import type { RunActor } from "../../src/core/model.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** The actor of a request, as it is recorded with the runs that it starts. */
export function runActor({ actor: { principal, client } }: Pick<ToolContext, "actor">): RunActor {
  const { owner, keyName, lineage } = principal;
  return { owner, keyName, lineage, surface: client.surface, client: client.name };
}
