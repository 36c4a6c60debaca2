/** Restores an old version by saving its content as a new version. */
import { useQueryClient } from "@tanstack/react-query";
import * as texts from "#texts/workflows";
import { send } from "../api/client.ts";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { type WorkflowWithEtag, invalidateWorkflows, versionQuery } from "./queries.ts";

export function useRestoreContent({ workflow, etag }: WorkflowWithEtag) {
  const client = useQueryClient();
  const { id } = workflow;
  return useSingleFlightMutation({
    mutationFn: async (version: number) => {
      const { name, description, tags, definition, source } = await client.fetchQuery(
        versionQuery(id, version),
      );
      return send("patch", "/workflows/{workflow_id}", {
        path: { workflow_id: id },
        header: { "If-Match": etag },
        body: {
          name,
          description,
          tags,
          // With its comments, if they are kept.
          definition: source ?? definition ?? null,
          reason: `Restored version ${version}`,
        },
      });
    },
    onSuccess: ({ data }, version) =>
      notifySuccess(
        data.version === workflow.version
          ? texts.sameAsLatest({ version })
          : texts.restoredVersion({ version, latest: data.version }),
      ),
    onError: (error, version) => notifyError(texts.restoreVersionFailed({ version }), error),
    onSettled: () => invalidateWorkflows(client),
  });
}
