import type { z } from "zod";
import { projectOf } from "../../schemas/project.ts";
import type { ReturnedWorkflow, WorkflowWithDefinition } from "../../schemas/workflow.ts";

/**
 * The workflow as it is, with what to do about a version that was published before and needs a review now.
 * @param version the version that was published
 */
export function withUnpublished(
  workflow: WorkflowWithDefinition,
  version: number,
): z.infer<typeof ReturnedWorkflow> {
  const { id, status } = workflow;
  const first =
    status === "archived" ? `Restore it (POST /workflows/${id}/restore), then publish` : "Publish";
  return {
    ...workflow,
    unpublished: {
      version,
      detail:
        `Version ${version} of "${id}" is no longer published: the project "${projectOf(workflow)}" requires review, and nobody ` +
        "else has reviewed it. Until it is published, its schedule does not run and published workflows that run it fail. " +
        `${first} version ${version} (publish_workflow, POST /workflows/${id}/publish): where you may not publish it yourself, ` +
        "that asks another person.",
    },
  };
}
