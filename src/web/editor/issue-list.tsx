/**
 * The issues below the editor: their number, announced when it changes, a button for each that jumps to its line, and
 * buttons that apply the fixes.
 */
import { Box, Button, Code, Group, Stack, Text, UnstyledButton } from "@mantine/core";
import { IconAlertTriangle, IconCircleX } from "@tabler/icons-react";
import { MarkedText } from "../ui/id.tsx";
import { endSentence } from "../ui/sentence.ts";
import type { EditorIssue } from "./format.ts";

interface IssueListProps {
  issues: readonly EditorIssue[];
  onChoose: (issue: EditorIssue) => void;
  /** Left out where the text can't be changed. */
  fixes?: { apply: (issue: EditorIssue) => void; applyAll: () => void; isApplying: boolean } | undefined;
}

export function IssueList({ issues, onChoose, fixes }: IssueListProps) {
  const fixable = issues.filter(({ patch }) => patch !== undefined).length;
  return (
    <Stack gap={4} pt={issues.length > 0 ? "xs" : 0}>
      <Group justify="space-between">
        <Text size="sm" fw={600} role="status" aria-live="polite">
          {countOf(issues)}
        </Text>
        {fixes !== undefined && fixable > 1 && (
          <Button size="compact-sm" variant="light" onClick={fixes.applyAll} loading={fixes.isApplying}>
            Apply all fixes
          </Button>
        )}
      </Group>
      {issues.length > 0 && (
        <Box component="ul" m={0} p={0} mah={170} style={{ listStyle: "none", overflowY: "auto" }}>
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
                    disabled={fixes.isApplying}
                    aria-label={`Apply fix: ${issue.path} ${issue.message}`}
                  >
                    Apply fix
                  </Button>
                )}
              </Group>
            </li>
          ))}
        </Box>
      )}
    </Stack>
  );
}

function Item({ issue: { severity, path, message, fix, line } }: { issue: EditorIssue }) {
  const Icon = severity === "error" ? IconCircleX : IconAlertTriangle;
  const color = severity === "error" ? "var(--mantine-color-error)" : "var(--mantine-color-yellow-text)";
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Icon size={16} color={color} style={{ flexShrink: 0, marginTop: 3 }} aria-label={severity} />
      <Text component="span" size="sm" style={{ overflowWrap: "anywhere" }}>
        {line !== undefined && `Line ${line}: `}
        {path !== "" && <Code>{path}</Code>} <MarkedText text={endSentence(message)} />
        {fix !== undefined && (
          <Text component="span" c="dimmed" inherit>
            <MarkedText text={` ${fix}`} />
          </Text>
        )}
      </Text>
    </Group>
  );
}

function countOf(issues: readonly EditorIssue[]): string {
  const errors = issues.filter(({ severity }) => severity === "error").length;
  return [pluralize(errors, "error"), pluralize(issues.length - errors, "warning")]
    .filter((text) => text !== "")
    .join(", ");
}

const pluralize = (count: number, noun: string): string =>
  count === 0 ? "" : `${count} ${noun}${count === 1 ? "" : "s"}`;
