import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { canonicalJson } from "../../src/core/canonical-json.ts";
import type { Readers } from "../../src/core/ports.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import { shortHash } from "../../src/core/short-hash.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/**
 * Stands for what the runs of a version can do now, with the workflows that it calls and the configuration, and for the version that
 * it would replace.
 * @throws AppError workflow_not_runnable when it has no definition
 */
export async function publicationDigest(
  { engine }: Pick<ToolContext, "engine">,
  limited: Pick<Readers, "workflows" | "runs" | "projects">,
  { id, published_version: published }: WorkflowWithDefinition,
  version: number,
): Promise<string> {
  // The same for every caller, whichever of the called workflows they may see.
  const { digest } = await engine.publicationPlan(unscoped(limited), { workflowId: id, version });
  return shortHash(canonicalJson([id, version, published, digest]));
}
