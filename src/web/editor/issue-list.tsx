/**
 * The issues below the editor, in view as long as the editor is: their number, announced when it changes, a button for each
 * that jumps to its line, and buttons that apply the fixes.
 */
import { Box, Button, Code, Group, Stack, Text, UnstyledButton } from "@mantine/core";
import { IconAlertTriangle, IconCircleX } from "@tabler/icons-react";
import type { ReactNode, Ref } from "react";
import * as texts from "#texts/editor";
import { endSentence } from "../ui/sentence.ts";
import type { EditorIssue } from "./format.ts";

interface IssueListProps {
  issues: readonly EditorIssue[];
  onChoose: (issue: EditorIssue) => void;
  /** Left out where the text can't be changed. */
  fixes?: Fixes | undefined;
  /** The state of the whole text, beside the number of issues. */
  status?: ReactNode;
  ref?: Ref<HTMLElement>;
}

export interface Fixes {
  apply: (issue: EditorIssue) => void;
  applyAll: () => void;
  /** Whether fixes can't be applied now: one is being applied, or the issues are those of an earlier text. */
  isDisabled: boolean;
}

export function IssueList({ issues, onChoose, fixes, status, ref }: IssueListProps) {
  const fixable = issues.filter(({ patch }) => patch !== undefined).length;
  const isEmpty = issues.length === 0 && status === undefined;
  return (
    <Box
      ref={ref}
      component="section"
      aria-label={texts.issues}
      pos="sticky"
      bottom={0}
      bg="var(--mantine-color-body)"
      {...(!isEmpty && { mt: "xs", py: 6 })}
      // Above the gutter and the cursor of the editor, and below its tooltips and menus.
      style={{ zIndex: 3, ...(!isEmpty && { borderTop: "1px solid var(--mantine-color-default-border)" }) }}
    >
      <Stack gap={4}>
        <Group justify="space-between" gap="xs">
          <Group gap="sm">
            <Text size="sm" fw={600} role="status" aria-live="polite">
              {countOf(issues)}
            </Text>
            {status}
          </Group>
          {fixes !== undefined && fixable > 1 && (
            <Button size="compact-sm" variant="light" onClick={fixes.applyAll} disabled={fixes.isDisabled}>
              {texts.applyAllFixes}
            </Button>
          )}
        </Group>
        {issues.length > 0 && (
          <Box
            component="ul"
            m={0}
            p={0}
            mah="min(220px, 26dvh)"
            style={{ listStyle: "none", overflowY: "auto" }}
          >
            {issues.map((issue) => (
              <li key={`${issue.line} ${issue.column} ${issue.path} ${issue.message}`}>
                <Group wrap="nowrap" gap="xs" align="flex-start">
                  <UnstyledButton flex={1} px="xs" py={6} bdrs="sm" onClick={() => onChoose(issue)}>
                    <Item issue={issue} />
                  </UnstyledButton>
                  {fixes !== undefined && issue.patch !== undefined && (
                    <Button
                      size="compact-sm"
                      variant="subtle"
                      mt={4}
                      onClick={() => fixes.apply(issue)}
                      disabled={fixes.isDisabled}
                      aria-label={texts.applyFixOf({ issue: `${issue.path} ${issue.message}` })}
                    >
                      {texts.applyFix}
                    </Button>
                  )}
                </Group>
              </li>
            ))}
          </Box>
        )}
      </Stack>
    </Box>
  );
}

function Item({ issue: { severity, path, message, fix, line } }: { issue: EditorIssue }) {
  const Icon = severity === "error" ? IconCircleX : IconAlertTriangle;
  const color = severity === "error" ? "var(--mantine-color-error)" : "var(--mantine-color-yellow-text)";
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Icon
        size={16}
        color={color}
        style={{ flexShrink: 0, marginTop: 3 }}
        aria-label={texts.severity({ severity })}
      />
      <Text component="span" size="sm" style={{ overflowWrap: "anywhere" }}>
        {line !== undefined && `${texts.line({ line })} `}
        {path !== "" && <Code>{path}</Code>} {endSentence(message)}
        {fix !== undefined && (
          <Text component="span" c="dimmed" inherit>
            {` ${fix}`}
          </Text>
        )}
      </Text>
    </Group>
  );
}

function countOf(issues: readonly EditorIssue[]): string {
  const errors = issues.filter(({ severity }) => severity === "error").length;
  const warnings = issues.length - errors;
  if (errors > 0 && warnings > 0) return texts.errorsAndWarnings({ errors, warnings });
  if (errors > 0) return texts.errors({ errors });
  return warnings > 0 ? texts.warnings({ warnings }) : "";
}
