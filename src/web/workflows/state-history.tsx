/** What has changed the state of a workflow: each key with its value before and after. */
import { Code, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { StateChange } from "../../../schemas/workflow-state.ts";
import { RunLink } from "../runs/facts.tsx";
import { LoadingSkeleton, QueryContent } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { stateHistoryQuery } from "./queries.ts";

export function StateHistory({ workflowId }: { workflowId: string }) {
  const query = useQuery(stateHistoryQuery(workflowId));
  return (
    <QueryContent query={query} skeleton={<LoadingSkeleton rows={3} />}>
      {(changes) =>
        changes.length === 0 ? (
          <Text size="sm" c="dimmed">
            No changes are recorded yet.
          </Text>
        ) : (
          <Stack
            gap="sm"
            component="ol"
            p={0}
            m={0}
            style={{ listStyle: "none" }}
            aria-label="Changes of the state"
          >
            {changes.map((change) => (
              <Change key={change.revision} change={change} />
            ))}
          </Stack>
        )
      }
    </QueryContent>
  );
}

const VERBS = { commit: "Committed", set: "Set", reset: "Reset", import: "Imported" } as const;

function Change({
  change: { revision, kind, at, by, key_name: key, reason, changes },
}: {
  change: StateChange;
}) {
  return (
    <li>
      <Group gap={6}>
        <Text size="sm">
          {VERBS[kind]} <Time at={at} ago /> by {by.startsWith("run_") ? <RunLink id={by} /> : by}
          {key !== null && key !== "browser" && ` (key ${key})`}
        </Text>
        <Text size="xs" c="dimmed">
          revision {revision}
        </Text>
      </Group>
      {reason !== null && (
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {reason}
        </Text>
      )}
      {changes.map(({ key: name, ...values }) => (
        <Text key={name} size="sm" style={{ overflowWrap: "anywhere" }}>
          <Code>{name}</Code>{" "}
          <Code>
            <del style={{ textDecoration: "none" }}>{valueText(values, "before", "not written")}</del>
          </Code>{" "}
          →{" "}
          <Code>
            <ins style={{ textDecoration: "none" }}>{valueText(values, "after", "its default")}</ins>
          </Code>
        </Text>
      ))}
    </li>
  );
}

/** Maximum length of a value, in characters. */
const MAX_CHARS = 300;

function valueText(
  values: Omit<StateChange["changes"][number], "key">,
  which: "before" | "after",
  missing: string,
): string {
  if (!(which in values)) return missing;
  const value = values[which];
  const text = isCut(value) ? `${value.preview}…` : JSON.stringify(value);
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}

const isCut = (value: unknown): value is { truncated: true; preview: string } =>
  typeof value === "object" && value !== null && "truncated" in value && "preview" in value;
