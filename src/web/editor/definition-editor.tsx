/**
 * The editor of a definition: YAML or JSON with completion, and the issues marked in the text and listed below it. Load it
 * on demand:
 * `lazy(() => import("../editor/definition-editor.tsx"))`.
 */
import { Box, Text, useComputedColorScheme } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import {
  type ReactNode,
  type Ref,
  useEffect,
  useEffectEvent,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import * as texts from "#texts/editor";
import { projectOf } from "../../../schemas/project-ids.ts";
import { databaseType, loadSqlSchema } from "../data/load-sql-schema.ts";
import { useProjects } from "../projects/use-projects.tsx";
import { notifyError } from "../ui/notify.ts";
import { createEditor, type Editor } from "./editor-view.ts";
import { fixAll } from "./fix-all.ts";
import { type Fixes, IssueList } from "./issue-list.tsx";
import type { EditorIssue } from "./format.ts";

/** What other parts of a page do with the text: see `Editor`. */
export type EditorHandle = Pick<Editor, "read" | "edit" | "focus">;

export interface DefinitionEditorProps {
  handle?: Ref<EditorHandle>;
  value: string;
  format: "yaml" | "json";
  onChange: (text: string) => void;
  issues: readonly EditorIssue[];
  /** Whether the issues are those of an earlier text, whose fixes don't fit. */
  isStale?: boolean;
  /** The state of the text, shown with the issues. */
  status?: ReactNode;
  readOnly?: boolean;
  /** The accessible name: "Definition of Weekly revenue". */
  label: string;
  /** In pixels; 320 by default. */
  minHeight?: number;
  /** Called on Ctrl-S or Cmd-S. */
  onSave?: () => void;
  /** The output shape of each step, as validation reported it: completes `steps.revenue.rows[0].`. */
  steps?: readonly { id: string; output: string }[] | undefined;
  /** The outputs of the last test, by step: completed and shown beside what validation reported. */
  tested?: Readonly<Record<string, unknown>> | undefined;
  /** The existing workflow that the text belongs to. */
  workflowId?: string | undefined;
  /** The project whose connections are completed; left out for the default one. */
  project?: string | undefined;
}

export default function DefinitionEditor(props: DefinitionEditorProps) {
  const { value, format, issues, readOnly = false, label, minHeight = 320 } = props;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor>(undefined);
  const hint = useId();
  const dark = useComputedColorScheme("light") === "dark";
  const onChange = useEffectEvent((text: string) => props.onChange(text));
  const steps = useEffectEvent(() => props.steps);
  const tested = useEffectEvent(() => props.tested);
  const { several } = useProjects();
  const project = useEffectEvent(() => (several ? projectOf(props) : undefined));
  const client = useQueryClient();
  const tables = useEffectEvent((database: string | undefined) => loadSqlSchema(client, project(), database));
  const typeOf = useEffectEvent((database: string | undefined) => databaseType(client, project(), database));
  const onSave = useEffectEvent(() => {
    props.onSave?.();
    return props.onSave !== undefined;
  });

  const fixes = useFixes(props, (issue) => editor.current?.jump(issue));
  const onFix = useEffectEvent((issue: EditorIssue) => fixes.apply(issue));
  const list = useRef<HTMLElement>(null);
  const coveredHeight = useEffectEvent(() => overlap(host.current, list.current));

  useLayoutEffect(() => {
    const callbacks = {
      onChange,
      onSave,
      onFix,
      coveredHeight,
      steps,
      tested,
      project,
      tables,
      databaseType: typeOf,
    };
    const created = createEditor(host.current!, callbacks);
    editor.current = created;
    return () => created.destroy();
  }, []);
  useImperativeHandle(
    props.handle,
    () => ({
      read: () => editor.current!.read(),
      edit: (change) => editor.current!.edit(change),
      focus: () => editor.current!.focus(),
    }),
    [],
  );
  // A layout effect runs before the next keystroke, so that a text from outside never overwrites a newer one.
  useLayoutEffect(() => {
    const describedBy = readOnly ? undefined : hint;
    editor.current!.show({ text: value, format, dark, readOnly, label, describedBy, minHeight });
  }, [value, format, dark, readOnly, label, hint, minHeight]);
  useEffect(() => editor.current!.mark(issues), [issues]);

  return (
    <Box>
      <Box
        ref={host}
        bdrs="md"
        style={{ border: "1px solid var(--mantine-color-default-border)", overflow: "hidden" }}
      />
      {!readOnly && (
        <Text id={hint} size="xs" c="dimmed" mt={4}>
          {texts.keysHint}
        </Text>
      )}
      {!(readOnly && issues.length === 0) && (
        <IssueList
          ref={list}
          issues={issues}
          status={props.status}
          onChoose={(issue) => editor.current?.jump(issue)}
          fixes={readOnly ? undefined : fixes}
        />
      )}
    </Box>
  );
}

/** Height of the part of the editor that the list of issues covers while it sticks to the bottom of the window. */
function overlap(editor: Element | null, list: Element | null): number {
  if (editor === null || list === null) return 0;
  return Math.max(editor.getBoundingClientRect().bottom - list.getBoundingClientRect().top, 0);
}

/**
 * Applies the fixes of issues to the text, and shows the changed place. A text that was changed meanwhile is left alone.
 * @param show moves the cursor to an issue, before the button that was pressed disappears
 */
function useFixes(props: DefinitionEditorProps, show: (issue: EditorIssue) => void): Fixes {
  const { value, format, issues, onChange, workflowId, isStale = false } = props;
  const [isApplying, setApplying] = useState(false);
  const isDisabled = isStale || isApplying;
  const current = useRef(value);
  useEffect(() => {
    current.current = value;
  }, [value]);
  const change = async (issue: EditorIssue, fixed: () => Promise<string>): Promise<void> => {
    if (isDisabled) return;
    setApplying(true);
    try {
      const text = await fixed();
      if (text === value) notifyError(texts.noFixTitle, new Error(texts.noFixHelp));
      else if (current.current === value) {
        show(issue);
        onChange(text);
      }
    } catch (error) {
      notifyError(texts.fixFailed, error);
    } finally {
      setApplying(false);
    }
  };
  return {
    isDisabled,
    apply: (issue) =>
      void change(issue, async () =>
        (await import("./patch-text.ts")).patchText(value, format, issue.patch ?? []),
      ),
    applyAll: () => void change(issues[0]!, () => fixAll(value, format, workflowId)),
  };
}
