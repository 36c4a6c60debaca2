/** Where a workflow stands: draft, live or put away, in which version, and whether the newest change is live. */
import { Badge, Group, Text } from "@mantine/core";
import { IconArchive, IconBroadcast, IconPencil } from "@tabler/icons-react";
import type { Workflow } from "../../../schemas/workflow.ts";

const LOOKS = {
  draft: { color: "gray", Icon: IconPencil },
  published: { color: "green", Icon: IconBroadcast },
  archived: { color: "gray", Icon: IconArchive },
} as const;

export function WorkflowState({ workflow }: { workflow: Workflow }) {
  const { status, version, published_version: live } = workflow;
  const { color, Icon } = LOOKS[status];
  const isBehind = status === "published" && live !== null && live !== version;
  return (
    <Group gap={6} wrap="nowrap">
      <Badge
        variant="light"
        color={color}
        tt="none"
        leftSection={<Icon size={12} aria-hidden />}
        style={{ flexShrink: 0 }}
        // On its own tint the colour would be too faint for text; the icon has it.
        styles={{ label: { color: "var(--mantine-color-text)" } }}
      >
        {status}
      </Badge>
      <Text size="sm" c="dimmed" style={{ whiteSpace: "nowrap" }}>
        {isBehind ? `v${live} of v${version}` : `v${version}`}
      </Text>
    </Group>
  );
}
