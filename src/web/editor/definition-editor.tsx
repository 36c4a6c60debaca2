/**
 * The editor of a definition: YAML or JSON with completion, and the issues marked in the text and listed below it. Load it
 * on demand:
 * `lazy(() => import("../editor/definition-editor.tsx"))`.
 */
import { Box, Text, useComputedColorScheme } from "@mantine/core";
import { useEffect, useEffectEvent, useId, useLayoutEffect, useRef, useState } from "react";
import { projectOf } from "../../../schemas/project-ids.ts";
import { useProjects } from "../projects/use-projects.tsx";
import { notifyError } from "../ui/notify.ts";
import { createEditor, type Editor } from "./editor-view.ts";
import { fixAll } from "./fix-all.ts";
import { IssueList } from "./issue-list.tsx";
import type { EditorIssue } from "./format.ts";

export interface DefinitionEditorProps {
  value: string;
  format: "yaml" | "json";
  onChange: (text: string) => void;
  issues: readonly EditorIssue[];
  readOnly?: boolean;
  /** The accessible name: "Definition of Weekly revenue". */
  label: string;
  /** In pixels; 320 by default. */
  minHeight?: number;
  /** Called on Ctrl-S or Cmd-S. */
  onSave?: () => void;
  onFormat?: () => void;
  /** The output shape of each step, as validation reported it: completes `steps.revenue.rows[0].`. */
  steps?: readonly { id: string; output: string }[] | undefined;
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
  const { several } = useProjects();
  const project = useEffectEvent(() => (several ? projectOf(props) : undefined));
  const onSave = useEffectEvent(() => {
    props.onSave?.();
    return props.onSave !== undefined;
  });
  const onFormat = useEffectEvent(() => {
    props.onFormat?.();
    return props.onFormat !== undefined;
  });

  useLayoutEffect(() => {
    const created = createEditor(host.current!, { onChange, onSave, onFormat, steps, project });
    editor.current = created;
    return () => created.destroy();
  }, []);
  // A layout effect runs before the next keystroke, so that a text from outside never overwrites a newer one.
  useLayoutEffect(() => {
    const describedBy = readOnly ? undefined : hint;
    editor.current!.show({ text: value, format, dark, readOnly, label, describedBy, minHeight });
  }, [value, format, dark, readOnly, label, hint, minHeight]);
  useEffect(() => editor.current!.mark(issues), [issues]);
  const fixes = useFixes(props);

  return (
    <Box>
      <Box
        ref={host}
        bdrs="md"
        style={{ border: "1px solid var(--mantine-color-default-border)", overflow: "hidden" }}
      />
      {!readOnly && (
        <Text id={hint} size="xs" c="dimmed" mt={4}>
          Press Ctrl-Space to complete. Press Escape, then Tab to leave the editor.
        </Text>
      )}
      {/* In view while any part of the text is. */}
      <Box pos="sticky" bottom={0} pb={4} bg="var(--mantine-color-body)" style={{ zIndex: 2 }}>
        <IssueList
          issues={issues}
          onChoose={(issue) => editor.current?.jump(issue)}
          fixes={readOnly ? undefined : fixes}
        />
      </Box>
    </Box>
  );
}

/** Applies the fixes of issues to the text. A text that was changed meanwhile is left alone. */
function useFixes({ value, format, onChange, workflowId }: DefinitionEditorProps) {
  const [isApplying, setApplying] = useState(false);
  const current = useRef(value);
  useEffect(() => {
    current.current = value;
  }, [value]);
  const change = async (fixed: Promise<string>): Promise<void> => {
    setApplying(true);
    try {
      const text = await fixed;
      if (current.current === value) onChange(text);
    } catch (error) {
      notifyError("The fix can’t be applied", error);
    } finally {
      setApplying(false);
    }
  };
  return {
    isApplying,
    apply: ({ patch = [] }: EditorIssue) =>
      void change(
        import("../../../schemas/patch-text.ts").then(({ patchText }) => patchText(value, format, patch)),
      ),
    applyAll: () => void change(fixAll(value, format, workflowId)),
  };
}
