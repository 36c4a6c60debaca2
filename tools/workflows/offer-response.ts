import type { z } from "zod";
import { EVERY_PROJECT } from "../../schemas/project.ts";
import type { WorkflowOffer } from "../../schemas/offer.ts";
import type { ProjectReader } from "../../src/core/project-ports.ts";

/**
 * What a workflow is offered to.
 * @param visible finds only what the caller can see
 */
export async function offerResponse(
  workflowId: string,
  projects: readonly string[],
  visible: Pick<ProjectReader, "find">,
): Promise<z.infer<typeof WorkflowOffer>> {
  const unseen: string[] = [];
  for (const id of projects)
    if (id !== EVERY_PROJECT && (await visible.find(id)) === undefined) unseen.push(id);
  return { workflow_id: workflowId, projects: [...projects], ...(unseen.length > 0 && { unseen }) };
}
