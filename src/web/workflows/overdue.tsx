/** That a workflow has not succeeded in time: a badge for lists, and a notice for its page. */
import { Alert, Badge, Text } from "@mantine/core";
import { IconAlarm } from "@tabler/icons-react";
import { queryOptions, useQuery } from "@tanstack/react-query";
import * as texts from "#texts/overdue";
import type { OverdueWorkflow } from "../../../schemas/overdue.ts";
import { send } from "../api/client.ts";
import { Time } from "../ui/time.tsx";

/** Every overdue workflow that the user can see: there are few. One request serves all rows of a list. */
export const overdueQuery = queryOptions({
  queryKey: ["overdue-workflows"],
  queryFn: async ({ signal }): Promise<readonly OverdueWorkflow[]> =>
    (await send("get", "/overdue-workflows", { query: {}, signal })).data.items,
  staleTime: 15_000,
  refetchInterval: 30_000,
});

export function OverdueBadge({ workflowId }: { workflowId: string }) {
  const { data = [] } = useQuery(overdueQuery);
  if (!data.some(({ workflow_id: id }) => id === workflowId)) return null;
  return (
    <Badge variant="default" tt="none" fw={500} leftSection={<IconAlarm size={12} aria-hidden />}>
      {texts.overdueBadge}
    </Badge>
  );
}

export function OverdueNotice({ workflowId }: { workflowId: string }) {
  const { data = [] } = useQuery(overdueQuery);
  const overdue = data.find(({ workflow_id: id }) => id === workflowId);
  if (overdue === undefined) return null;
  const { every, due_at: due, succeeded_at: succeeded } = overdue;
  return (
    <Alert color="red" icon={<IconAlarm aria-hidden />} title={texts.overdue} role="status">
      <Text size="sm" component="div">
        {succeeded === null
          ? texts.overdueSincePublished({ every, due: <Time at={due} ago /> })
          : texts.overdueSince({ every, since: <Time at={succeeded} />, due: <Time at={due} ago /> })}
      </Text>
    </Alert>
  );
}
