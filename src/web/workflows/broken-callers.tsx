/** The workflows that a change would break, each to be confirmed by its name. */
import { Alert, Anchor, Checkbox, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "react-router";
import * as texts from "#texts/workflows";
import { type BrokenCaller, brokenCallersOf, OTHER_PROJECTS } from "./callers-in-error.ts";
import { IssueList } from "./issue-list.tsx";

interface CallerConfirmation {
  callers: readonly BrokenCaller[];
  confirmed: ReadonlySet<string>;
  /** Whether nothing is left to confirm. */
  isComplete: boolean;
  onConfirm: (id: string, isConfirmed: boolean) => void;
}

/** The callers that an error names, and which of them the user lets break. */
export function useCallerConfirmation(error: unknown): CallerConfirmation {
  const [confirmed, setConfirmed] = useState<ReadonlySet<string>>(new Set());
  const callers = brokenCallersOf(error);
  return {
    callers,
    confirmed,
    isComplete: callers.every(({ id }) => confirmed.has(id)),
    onConfirm: (id, isConfirmed) => {
      const others = [...confirmed].filter((other) => other !== id);
      setConfirmed(new Set(isConfirmed ? [...others, id] : others));
    },
  };
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
      title={texts.wouldBreak({ refused, count: callers.length })}
    >
      <Stack gap="sm">
        <Text size="sm">{texts.wouldBreakHelp}</Text>
        {callers.map(({ id, issues }) =>
          id === OTHER_PROJECTS ? (
            <Checkbox
              key={id}
              size="sm"
              label={texts.breakHidden}
              checked={confirmed.has(id)}
              onChange={({ currentTarget }) => onConfirm(id, currentTarget.checked)}
            />
          ) : (
            <Stack key={id} gap={4}>
              <Anchor component={Link} to={`/workflows/${id}`} size="sm" fw={600} underline="always">
                {id}
              </Anchor>
              <IssueList issues={issues} label={texts.errorsOf({ id })} />
              <Checkbox
                size="sm"
                label={texts.breakCaller({ id })}
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
