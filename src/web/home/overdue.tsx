/** The workflows that have not succeeded in time. Nothing is shown where there are none. */
import { Alert, Anchor, Stack, Text } from "@mantine/core";
import { IconAlarm } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import * as texts from "#texts/home";
import { projectOf } from "../../../schemas/project-ids.ts";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { Time } from "../ui/time.tsx";
import { overdueQuery } from "../workflows/overdue.tsx";

export function OverdueWorkflows() {
  const { project } = useProjectFilter();
  const { data = [] } = useQuery(overdueQuery);
  const overdue = data.filter((workflow) => project === undefined || projectOf(workflow) === project);
  if (overdue.length === 0) return null;
  return (
    <Alert color="red" icon={<IconAlarm aria-hidden />} title={texts.overdueWorkflows} role="status">
      <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
        {overdue.map(({ workflow_id: id, name, every, due_at: due }) => (
          <Text key={id} size="sm" component="li" style={{ overflowWrap: "anywhere" }}>
            {texts.overdue({
              workflow: (
                <Anchor component={Link} to={`/workflows/${id}`} inherit c="inherit" td="underline">
                  {name}
                </Anchor>
              ),
              every,
              time: <Time at={due} ago />,
            })}
          </Text>
        ))}
      </Stack>
    </Alert>
  );
}
