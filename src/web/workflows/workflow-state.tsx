/** The status and version of a workflow, and whether the latest version is published. */
import { Badge, Group, Text } from "@mantine/core";
import { IconArchive, IconBroadcast, IconPencil } from "@tabler/icons-react";
import * as texts from "#texts/workflows";
import type { Workflow } from "../../../schemas/workflow.ts";

const STATUS_STYLES = {
  draft: { color: "gray", Icon: IconPencil },
  published: { color: "green", Icon: IconBroadcast },
  archived: { color: "gray", Icon: IconArchive },
} as const;

export function WorkflowState({ workflow }: { workflow: Workflow }) {
  const { status, version, published_version: published } = workflow;
  const { color, Icon } = STATUS_STYLES[status];
  const isBehind = status === "published" && published !== null && published !== version;
  return (
    <Group gap={6} wrap="nowrap">
      <Badge
        variant="light"
        color={color}
        tt="none"
        leftSection={<Icon size={12} aria-hidden />}
        style={{ flexShrink: 0 }}
        // Coloured text on its own tint has too little contrast, so only the icon is coloured.
        styles={{ label: { color: "var(--mantine-color-text)" } }}
      >
        {texts.status({ status })}
      </Badge>
      <Text size="sm" c="dimmed" style={{ whiteSpace: "nowrap" }}>
        {isBehind
          ? texts.versionAndLatest({ version: published, latest: version })
          : texts.shortVersion({ version })}
      </Text>
    </Group>
  );
}
