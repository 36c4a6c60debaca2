/** The draft of a definition: its text, the version it is based on, saving, and conflicts with other edits. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Issue } from "../../../schemas/problem.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { ApiError, send } from "../api/client.ts";
import { convert, type Format, formatText, toText } from "../editor/format.ts";
import { confirmAction } from "../ui/confirm.tsx";
import { notifySuccess, notifyWarning } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { type WorkflowWithEtag, readWrittenWorkflow, invalidateWorkflows, workflowQuery } from "./queries.ts";

interface Draft {
  text: string;
  format: Format;
  /** The version that the draft is based on; its ETag is sent with the save. */
  base: WorkflowWithEtag;
  /** The text of the base. */
  baseText: string;
  reason: string;
}

/** A newer version that someone else saved. */
export interface Conflict {
  theirs: WorkflowWithEtag;
  theirText: string;
}

/** @param startText the text to begin with, if it is not that of the workflow */
export function useDraft(read: WorkflowWithEtag, initialText: string, startText = initialText) {
  const client = useQueryClient();
  const [draft, setDraft] = useState<Draft>({
    text: startText,
    format: "yaml",
    base: read,
    baseText: initialText,
    reason: "",
  });
  const [conflict, setConflict] = useState<Conflict>();
  const [hasSyntaxErrors, setHasSyntaxErrors] = useState(false);
  const { text, format, base, baseText, reason } = draft;
  const { id } = base.workflow;
  const change = (changed: Partial<Draft>) => setDraft((before) => ({ ...before, ...changed }));
  const setText = (changed: string) => {
    setHasSyntaxErrors(false);
    change({ text: changed });
  };

  const save = useSingleFlightMutation({
    mutationFn: async (): Promise<{ saved: WorkflowWithEtag; text: string; issues: readonly Issue[] }> => {
      const { data, etag } = await send("patch", "/workflows/{workflow_id}", {
        path: { workflow_id: id },
        header: { "If-Match": base.etag },
        // Sent as text, so that the server reports syntax errors with their line.
        body: {
          definition: text.trim() === "" ? null : text,
          ...(reason.trim() !== "" && { reason: reason.trim() }),
        },
      });
      const { issues = [], warnings: _, ...workflow } = data;
      return { saved: { workflow: workflow as WorkflowWithDefinition, etag: etag ?? "" }, text, issues };
    },
    onSuccess: ({ saved, text: sent, issues }) => {
      const { version } = saved.workflow;
      change({ base: saved, baseText: sent, reason: "" });
      client.setQueryData(workflowQuery(id).queryKey, saved);
      const unchanged = version === base.workflow.version;
      const hint =
        issues.length === 0
          ? ""
          : ` Fix ${issues.length === 1 ? "1 error" : `${issues.length} errors`} before you run it.`;
      notifySuccess(
        unchanged ? `No changes since version ${version}.${hint}` : `Saved as version ${version}.${hint}`,
      );
    },
    onError: async (error) => {
      if (!(error instanceof ApiError && error.status === 412)) return;
      const { read: theirs, text: written } = await readWrittenWorkflow(id);
      const theirText = format === "yaml" ? written : await toText(theirs.workflow.definition, format);
      setConflict({ theirs, theirText });
    },
    onSettled: () => invalidateWorkflows(client),
  });

  /** Converts the text to another format; asks for confirmation if comments would be lost. */
  const setFormat = async (to: Format) => {
    if (to === format) return;
    const converted = await convert(text, format, to);
    if ("issues" in converted) return setHasSyntaxErrors(true);
    const apply = () =>
      change({ format: to, text: converted.text, ...(text === baseText && { baseText: converted.text }) });
    if (!converted.commentsLost) return apply();
    confirmAction({
      title: "Switch to JSON without comments?",
      consequence: "JSON has no comments. The comments in this definition will be lost.",
      confirm: "Switch to JSON",
      onConfirm: apply,
    });
  };

  /** Writes the text in its canonical form, with its comments. */
  const tidy = async () => {
    const formatted = await formatText(text, format);
    if (formatted === undefined) notifyWarning("The text can’t be formatted. Fix its syntax errors first.");
    else setText(formatted);
  };

  return {
    ...draft,
    isChanged: text !== baseText,
    hasSyntaxErrors,
    setText,
    setReason: (changed: string) => change({ reason: changed }),
    setFormat,
    tidy,
    save,
    conflict,
    /** Keeps the draft, now based on the newer version. */
    keepDraft: ({ theirs, theirText }: Conflict) => {
      change({ base: theirs, baseText: theirText });
      setConflict(undefined);
      save.reset();
    },
    /** Replaces the draft by the newer version. */
    discard: ({ theirs, theirText }: Conflict) => {
      change({ base: theirs, baseText: theirText, text: theirText });
      setConflict(undefined);
      save.reset();
    },
  };
}
