/** A part of a run's page that is folded until somebody opens it. */
import { Accordion, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";

interface FoldedProps {
  title: string;
  /** What is inside, in a few words: "3 fields". */
  summary: string;
  children: ReactNode;
}

export function Folded({ title, summary, children }: FoldedProps) {
  return (
    <Accordion variant="contained" order={2} miw={0}>
      <Accordion.Item value={title}>
        <Accordion.Control>
          <Group gap="xs">
            <Text size="sm" fw={600}>
              {title}
            </Text>
            <Text size="sm" c="dimmed" truncate>
              {summary}
            </Text>
          </Group>
        </Accordion.Control>
        <Accordion.Panel>{children}</Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}
