/** Making what a workflow was in an old version its newest one; the history keeps all that lies between. */
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
      const { name, description, tags, definition } = await client.fetchQuery(versionQuery(id, version));
      return send("patch", "/workflows/{workflow_id}", {
        path: { workflow_id: id },
        header: { "If-Match": etag },
        body: { name, description, tags, definition: definition ?? null, reason: `As in version ${version}` },
      });
    },
    onSuccess: ({ data }, version) =>
      notifySuccess(
        data.version === workflow.version
          ? `Version ${version} says the same as the newest one.`
          : `Version ${data.version} is as version ${version} was.`,
      ),
    onError: (error, version) => notifyError(`Version ${version} was not taken up`, error),
    onSettled: () => invalidateWorkflows(client),
  });
}
