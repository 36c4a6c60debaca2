/**
 * The editor of a definition: YAML or JSON with completion, marks at faults and their list below. Load it on demand:
 * `lazy(() => import("../editor/definition-editor.tsx"))`.
 */
import { Box, Text, useComputedColorScheme } from "@mantine/core";
import { useEffect, useEffectEvent, useId, useLayoutEffect, useRef } from "react";
import { createEditor, type Editor } from "./editor-view.ts";
import { IssueList } from "./issue-list.tsx";
import type { EditorIssue } from "./format.ts";

export interface DefinitionEditorProps {
  value: string;
  format: "yaml" | "json";
  onChange: (text: string) => void;
  issues: readonly EditorIssue[];
  readOnly?: boolean;
  /** What is edited, for who does not see it: "Definition of Weekly revenue". */
  label: string;
  /** In pixels; 320 when left out. */
  minHeight?: number;
  /** Ctrl-S or Cmd-S. */
  onSave?: () => void;
  /** What validation said that each step gives: completes `steps.revenue.rows[0].`. */
  steps?: readonly { id: string; output: string }[] | undefined;
}

export default function DefinitionEditor(props: DefinitionEditorProps) {
  const { value, format, issues, readOnly = false, label, minHeight = 320 } = props;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor>(undefined);
  const hint = useId();
  const dark = useComputedColorScheme("light") === "dark";
  const onChange = useEffectEvent((text: string) => props.onChange(text));
  const steps = useEffectEvent(() => props.steps);
  const onSave = useEffectEvent(() => {
    props.onSave?.();
    return props.onSave !== undefined;
  });

  useLayoutEffect(() => {
    const made = createEditor(host.current!, { onChange, onSave, steps });
    editor.current = made;
    return () => made.destroy();
  }, []);
  // Before the next key can be pressed: a text from outside must not overwrite a newer one.
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
          Ctrl-Space completes. Escape, then Tab leaves the editor.
        </Text>
      )}
      <IssueList issues={issues} onChoose={(issue) => editor.current?.jump(issue)} />
    </Box>
  );
}
