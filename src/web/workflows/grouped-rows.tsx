/** The workflow list in groups that open and close: one for each tag. */
import { Accordion, Badge, Group, Stack, Text } from "@mantine/core";
import { useEffect, useMemo, useState } from "react";
import { useSearchParams } from "react-router";
import * as texts from "#texts/workflows";
import type { Workflow } from "../../../schemas/workflow.ts";
import { Row } from "./list-rows.tsx";
import { groupByTag } from "./tag-groups.ts";

/** Maximum number of workflows that are loaded to be grouped. */
const MAX_GROUPED = 1_000;
/** Up to this number all groups are open at first. */
const MAX_OPEN = 60;
const NO_TAG = " ";

interface Props {
  workflows: readonly Workflow[];
  /** Whether another page can be loaded now. */
  more: boolean;
  onMore: () => void;
}

export function GroupedRows({ workflows, more, onMore }: Props) {
  const [parameters] = useSearchParams();
  const groups = useMemo(() => groupByTag(workflows), [workflows]);
  const [chosen, setChosen] = useState<string[]>();
  const isFull = workflows.length >= MAX_GROUPED;
  useEffect(() => {
    if (more && !isFull) onMore();
  }, [more, isFull, onMore]);
  const initial = workflows.length <= MAX_OPEN ? groups.map(({ tag }) => tag ?? NO_TAG) : [];
  const open = chosen ?? initial;
  return (
    <Stack gap="xs">
      {more && isFull && (
        <Text size="sm" c="dimmed" role="note">
          {texts.onlyFirstGrouped({ count: workflows.length })}
        </Text>
      )}
      <Accordion multiple variant="separated" value={open} onChange={setChosen} order={2}>
        {groups.map(({ tag, workflows: members }) => (
          <Accordion.Item key={tag ?? NO_TAG} value={tag ?? NO_TAG}>
            <Accordion.Control>
              <Group gap="xs">
                <Text fw={600}>{tag ?? texts.noTag}</Text>
                <Badge variant="default" size="sm">
                  {members.length}
                </Badge>
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              {open.includes(tag ?? NO_TAG) && (
                <Stack component="ul" gap={8} m={0} p={0} style={{ listStyle: "none" }}>
                  {members.map((workflow) => (
                    <li key={workflow.id}>
                      <Row workflow={workflow} query={parameters.toString()} />
                    </li>
                  ))}
                </Stack>
              )}
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Stack>
  );
}
