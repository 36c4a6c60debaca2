/** What the statistics leave out. */
import { Alert, Anchor, Stack, Text } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import { Link } from "react-router";
import type { RunGroups } from "../../../schemas/run-groups.ts";
import { Id, MarkedText } from "../ui/id.tsx";
import { endSentence } from "../ui/sentence.ts";
import { pluralize } from "./labels.ts";

interface StatisticsNoticesProps {
  result: RunGroups;
  /** The condition. */
  where: string | undefined;
}

export function StatisticsNotices({ result, where }: StatisticsNoticesProps) {
  const { complete, read, groups, total, without_value: withoutValue = [] } = result;
  if (complete && groups.length === total && withoutValue.length === 0) return null;
  const isPartial =
    !complete || groups.length < total || withoutValue.some(({ expression }) => expression === where);
  return (
    <Alert
      color="yellow"
      icon={<IconInfoCircle aria-hidden />}
      title={isPartial ? "Not all runs are counted" : "Some runs lack a value"}
      role="status"
    >
      <Stack gap={4}>
        {!complete && (
          <Text size="sm">
            Only the newest {pluralize(read, "run")} were read. For older ones choose an earlier day in
            “Until”, or more filters.
          </Text>
        )}
        {groups.length < total && (
          <Text size="sm">
            These are the {groups.length.toLocaleString()} groups with the most runs, of{" "}
            {total.toLocaleString()}.
          </Text>
        )}
        {withoutValue.map(({ expression, runs, run_id: id, message }) => (
          <Text size="sm" key={expression} style={{ overflowWrap: "anywhere" }}>
            <Id>{expression}</Id> has no value in {pluralize(runs, "run")}
            {expression === where && ", left out"}, such as{" "}
            <Anchor component={Link} to={`/runs/${id}`} inherit c="inherit" td="underline">
              {id}
            </Anchor>
            : <MarkedText text={endSentence(message)} />
          </Text>
        ))}
      </Stack>
    </Alert>
  );
}
