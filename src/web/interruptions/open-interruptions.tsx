/** The open interruptions, with links to their runs. Nothing is shown where there are none. */
import { Alert, Anchor, Stack, Text } from "@mantine/core";
import { IconHelpTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { pluralize } from "../runs/labels.ts";
import { MarkedText } from "../ui/id.tsx";
import { Time } from "../ui/time.tsx";
import { WorkflowName } from "../workflows/names.tsx";
import { openInterruptionsQuery } from "./queries.ts";
import { pathOf, questionText } from "./texts.ts";

export function OpenInterruptions() {
  const { data } = useQuery(openInterruptionsQuery(useProjectFilter()));
  if (data === undefined || data.data.length === 0) return null;
  const { data: named, total, isTotalCapped } = data;
  const count = total ?? named.length;
  return (
    <Alert
      color="yellow"
      icon={<IconHelpTriangle aria-hidden />}
      title={isTotalCapped ? "Open interruptions" : pluralize(count, "open interruption")}
      role="status"
    >
      <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
        {named.map((interruption) => (
          <Text key={interruption.id} size="sm" component="li" style={{ overflowWrap: "anywhere" }}>
            <Anchor component={Link} to={pathOf(interruption)} inherit c="inherit" td="underline">
              <MarkedText text={questionText(interruption)} />
            </Anchor>{" "}
            ·{" "}
            {interruption.workflow_id === null ? (
              "single step"
            ) : (
              <WorkflowName id={interruption.workflow_id} />
            )}{" "}
            · <Time at={interruption.interrupted_at} ago />
            {interruption.waiting && " · the run waits"}
          </Text>
        ))}
        {count > named.length && (
          <Text size="sm" component="li">
            <Anchor component={Link} to="/interruptions" inherit c="inherit" td="underline">
              All open interruptions
            </Anchor>
          </Text>
        )}
      </Stack>
    </Alert>
  );
}
