/** Restores an old version by saving its content as a new version. */
import { useQueryClient } from "@tanstack/react-query";
import { send } from "../api/client.ts";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { type WorkflowWithEtag, invalidateWorkflows, versionQuery } from "./queries.ts";

export function useRestoreContent({ workflow, etag }: WorkflowWithEtag) {
  const client = useQueryClient();
  const { id } = workflow;
  return useSingleFlightMutation({
    mutationFn: async (version: number) => {
      const found = await client.fetchQuery(versionQuery(id, version));
      const { name, description, tags, definition = null, definition_text: text } = found;
      return send("patch", "/workflows/{workflow_id}", {
        path: { workflow_id: id },
        header: { "If-Match": etag },
        body: {
          name,
          description,
          tags,
          // With the comments of that version.
          definition: text ?? definition,
          reason: `Restored version ${version}`,
        },
      });
    },
    onSuccess: ({ data }, version) =>
      notifySuccess(
        data.version === workflow.version
          ? `Version ${version} is identical to the latest version.`
          : `Restored version ${version} as version ${data.version}.`,
      ),
    onError: (error, version) => notifyError(`Could not restore version ${version}`, error),
    onSettled: () => invalidateWorkflows(client),
  });
}
