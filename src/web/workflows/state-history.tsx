/** What has changed the state of a workflow: each key with its value before and after. */
import { Code, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import * as texts from "#texts/workflows";
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
            {texts.noStateChanges}
          </Text>
        ) : (
          <Stack
            gap="sm"
            component="ol"
            p={0}
            m={0}
            style={{ listStyle: "none" }}
            aria-label={texts.stateChanges}
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

function Change({
  change: { revision, kind, at, by, key_name: key, reason, changes },
}: {
  change: StateChange;
}) {
  const time = <Time at={at} ago />;
  const author = by.startsWith("run_") ? <RunLink id={by} /> : by;
  return (
    <li>
      <Group gap={6}>
        <Text size="sm">
          {key === null || key === "browser"
            ? texts.stateChange({ kind, time, author })
            : texts.stateChangeWithKey({ kind, time, author, key })}
        </Text>
        <Text size="xs" c="dimmed">
          {texts.revision({ revision })}
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
            <del style={{ textDecoration: "none" }}>{valueText(values, "before", texts.notWritten)}</del>
          </Code>{" "}
          <span className="arrow">→</span>{" "}
          <Code>
            <ins style={{ textDecoration: "none" }}>{valueText(values, "after", texts.itsDefault)}</ins>
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
