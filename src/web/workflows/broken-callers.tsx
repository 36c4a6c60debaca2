/** The workflows that a new version would break, each to be confirmed by its name. */
import { Alert, Anchor, Checkbox, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Link } from "react-router";
import type { Issue } from "../../../schemas/problem.ts";
import { ApiError } from "../api/client.ts";
import { IssueList } from "./issue-list.tsx";

export interface BrokenCaller {
  id: string;
  issues: Issue[];
}

/** The callers that the refusal of a publication names; empty for any other error. */
export function brokenCallersOf(error: unknown): BrokenCaller[] {
  if (!(error instanceof ApiError) || error.code !== "callers_would_break") return [];
  // The path of each issue begins with the id of its workflow.
  const byCaller = Map.groupBy(error.problem.errors ?? [], ({ path }) => path.slice(0, path.indexOf(".")));
  return [...byCaller].map(([id, issues]) => ({
    id,
    issues: issues.map((issue) => Object.assign({}, issue, { path: issue.path.slice(id.length + 1) })),
  }));
}

interface BrokenCallersProps {
  callers: readonly BrokenCaller[];
  confirmed: ReadonlySet<string>;
  onConfirm: (id: string, confirmed: boolean) => void;
}

export function BrokenCallers({ callers, confirmed, onConfirm }: BrokenCallersProps) {
  return (
    <Alert
      color="red"
      role="alert"
      icon={<IconAlertTriangle aria-hidden />}
      title={
        callers.length === 1
          ? "Not published: 1 workflow would break"
          : `Not published: ${callers.length} workflows would break`
      }
    >
      <Stack gap="sm">
        <Text size="sm">
          They run this workflow and don’t fit this version. Keep what they rely on, or confirm each one.
        </Text>
        {callers.map(({ id, issues }) => (
          <Stack key={id} gap={4}>
            <Anchor component={Link} to={`/workflows/${id}`} size="sm" fw={600} underline="always">
              {id}
            </Anchor>
            <IssueList issues={issues} label={`Errors of ${id}`} />
            <Checkbox
              size="sm"
              label={`Break ${id}`}
              checked={confirmed.has(id)}
              onChange={({ currentTarget }) => onConfirm(id, currentTarget.checked)}
            />
          </Stack>
        ))}
      </Stack>
    </Alert>
  );
}
