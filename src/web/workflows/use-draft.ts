/** A definition that is being edited: its text, what it was begun from, saving it, and what came between. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Issue } from "../../../schemas/problem.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { ApiError, send } from "../api/client.ts";
import { convert, type Format, toText } from "../editor/format.ts";
import { confirmAction } from "../ui/confirm.tsx";
import { notifySuccess } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { type WorkflowWithEtag, readWorkflow, invalidateWorkflows, workflowQuery } from "./queries.ts";

interface Draft {
  text: string;
  format: Format;
  /** The newest state that the draft stands on; its revision is sent along. */
  base: WorkflowWithEtag;
  /** The text that says the same as the base. */
  baseText: string;
  reason: string;
}

/** What somebody else saved meanwhile. */
export interface Conflict {
  theirs: WorkflowWithEtag;
  theirText: string;
}

export function useDraft(read: WorkflowWithEtag, initialText: string) {
  const client = useQueryClient();
  const [draft, setDraft] = useState<Draft>({
    text: initialText,
    format: "yaml",
    base: read,
    baseText: initialText,
    reason: "",
  });
  const [conflict, setConflict] = useState<Conflict>();
  const [unreadable, setUnreadable] = useState(false);
  const { text, format, base, baseText, reason } = draft;
  const { id } = base.workflow;
  const change = (changed: Partial<Draft>) => setDraft((before) => ({ ...before, ...changed }));
  const setText = (changed: string) => {
    setUnreadable(false);
    change({ text: changed });
  };

  const save = useSingleFlightMutation({
    mutationFn: async (): Promise<{ saved: WorkflowWithEtag; text: string; issues: readonly Issue[] }> => {
      const { data, etag } = await send("patch", "/workflows/{workflow_id}", {
        path: { workflow_id: id },
        header: { "If-Match": base.etag },
        // As text: what can't be read is told with its line.
        body: {
          definition: text.trim() === "" ? null : text,
          ...(reason.trim() !== "" && { reason: reason.trim() }),
        },
      });
      const { issues = [], ...workflow } = data;
      return { saved: { workflow: workflow as WorkflowWithDefinition, etag: etag ?? "" }, text, issues };
    },
    onSuccess: ({ saved, text: sent, issues }) => {
      const { version } = saved.workflow;
      change({ base: saved, baseText: sent, reason: "" });
      client.setQueryData(workflowQuery(id).queryKey, saved);
      const unchanged = version === base.workflow.version;
      const more =
        issues.length === 0
          ? ""
          : ` It can't run yet: ${issues.length === 1 ? "1 fault" : `${issues.length} faults`} to mend.`;
      notifySuccess(
        unchanged
          ? `Nothing has changed since version ${version}.${more}`
          : `Saved as version ${version}.${more}`,
      );
    },
    onError: async (error) => {
      if (!(error instanceof ApiError && error.status === 412)) return;
      const theirs = await readWorkflow(id);
      setConflict({ theirs, theirText: await toText(theirs.workflow.definition, format) });
    },
    onSettled: () => invalidateWorkflows(client),
  });

  /** Writes the same in the other format; asks first where comments would go. */
  const setFormat = async (to: Format) => {
    if (to === format) return;
    const converted = await convert(text, format, to);
    if ("issues" in converted) return setUnreadable(true);
    const apply = () =>
      change({ format: to, text: converted.text, ...(text === baseText && { baseText: converted.text }) });
    if (!converted.commentsLost) return apply();
    confirmAction({
      title: "Change to JSON, without the comments?",
      consequence: "JSON can't hold comments: those in this definition are lost.",
      confirm: "Change to JSON",
      onConfirm: apply,
    });
  };

  return {
    ...draft,
    isChanged: text !== baseText,
    unreadable,
    setText,
    setReason: (changed: string) => change({ reason: changed }),
    setFormat,
    save,
    conflict,
    /** Goes on with one's own text on top of what is newest. */
    keepMine: ({ theirs, theirText }: Conflict) => {
      change({ base: theirs, baseText: theirText });
      setConflict(undefined);
      save.reset();
    },
    takeTheirs: ({ theirs, theirText }: Conflict) => {
      change({ base: theirs, baseText: theirText, text: theirText });
      setConflict(undefined);
      save.reset();
    },
  };
}
