/** The workflows that a change would break, each to be confirmed by its name. */
import { Alert, Checkbox, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { type Confirmations, useConfirmations } from "../ui/use-confirmations.ts";
import { type BrokenCaller, brokenCallersOf, OTHER_PROJECTS } from "./callers-in-error.ts";
import { WorkflowLink, WorkflowName } from "./names.tsx";
import { IssueList } from "./issue-list.tsx";

interface CallerConfirmation extends Confirmations {
  callers: readonly BrokenCaller[];
}

/** The callers that an error names, and which of them the user lets break. */
export function useCallerConfirmation(error: unknown): CallerConfirmation {
  const callers = brokenCallersOf(error);
  return { callers, ...useConfirmations(callers.map(({ id }) => id)) };
}

interface BrokenCallersProps {
  confirmation: CallerConfirmation;
  /** What was refused, such as "Not published". */
  refused: string;
}

export function BrokenCallers({
  confirmation: { callers, confirmed, onConfirm },
  refused,
}: BrokenCallersProps) {
  return (
    <Alert
      color="red"
      role="alert"
      icon={<IconAlertTriangle aria-hidden />}
      title={
        callers.length === 1
          ? `${refused}: 1 workflow would break`
          : `${refused}: ${callers.length} workflows would break`
      }
    >
      <Stack gap="sm">
        <Text size="sm">
          They run this workflow and don’t fit this change. Keep what they rely on, or confirm each one.
        </Text>
        {callers.map(({ id, issues }) =>
          id === OTHER_PROJECTS ? (
            <Checkbox
              key={id}
              size="sm"
              label="Break workflows in projects that you can’t see"
              checked={confirmed.has(id)}
              onChange={({ currentTarget }) => onConfirm(id, currentTarget.checked)}
            />
          ) : (
            <Stack key={id} gap={4}>
              <Text size="sm" fw={600}>
                <WorkflowLink id={id} underline="always" />
              </Text>
              <IssueList issues={issues} label={`Errors of ${id}`} />
              <Checkbox
                size="sm"
                label={
                  <>
                    Break <WorkflowName id={id} />
                  </>
                }
                checked={confirmed.has(id)}
                onChange={({ currentTarget }) => onConfirm(id, currentTarget.checked)}
              />
            </Stack>
          ),
        )}
      </Stack>
    </Alert>
  );
}
