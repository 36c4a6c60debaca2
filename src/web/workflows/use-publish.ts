/** Publishes from the editor. A changed text is checked first, then saved as a version, which the dialog publishes. */
import { useState } from "react";
import { send } from "../api/client.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import type { WorkflowWithEtag } from "./queries.ts";
import type { useDraft } from "./use-draft.ts";

export function usePublish({ text, base, isChanged, save }: ReturnType<typeof useDraft>) {
  /** The version that the dialog publishes. */
  const [publishing, setPublishing] = useState<WorkflowWithEtag>();
  const check = useSingleFlightMutation({
    // The issues that the editor shows may still be those of an earlier text.
    mutationFn: async () => {
      const body = { definition: text, workflow_id: base.workflow.id };
      return (await send("post", "/workflows/validate", { body })).data.errors;
    },
    onSuccess: (errors) => {
      if (errors.length === 0) save.mutate(undefined, { onSuccess: ({ saved }) => setPublishing(saved) });
    },
  });
  return {
    publishing,
    close: () => setPublishing(undefined),
    start: () => (isChanged ? check.mutate() : setPublishing(base)),
    isChecking: check.isPending,
    /** Number of errors because of which nothing was saved. */
    errors: check.data?.length ?? 0,
    /** Why the text could not be checked. */
    error: check.error,
    /** Forgets the last result, which belongs to the text that was checked. */
    reset: check.reset,
  };
}
