/** The items of a fan-out or the iterations of a loop, in pages; each opens its input and output. */
import { Anchor, Button, Group, NumberInput, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { RunStep } from "../../../schemas/run.ts";
import { QueryContent } from "../ui/page.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { firstSentence } from "./failure.ts";
import { stepQuery } from "./queries.ts";
import { Section } from "./section.tsx";
import type { LiveRun } from "./live-updates.ts";

/** Page size of the API. */
const PAGE_SIZE = 20;

interface ItemsProps {
  run: LiveRun;
  step: RunStep;
  revision: string;
  onItem: (item: number) => void;
}

export function Items({ run, step, revision, onItem }: ItemsProps) {
  const [from, setFrom] = useState(0);
  const { total, max } = step.items!;
  const noun = max === undefined ? "Item" : "Iteration";
  // Without an item, the API returns the first page.
  const query = useQuery(stepQuery(run.id, step.id, from === 0 ? undefined : from, revision));
  return (
    <Section title={`${noun}s`}>
      <QueryContent query={query}>
        {({ item_list: items = [] }) =>
          items.length === 0 ? (
            <Text size="sm" c="dimmed">
              {total === 0 ? "The list is empty." : `No ${noun.toLowerCase()}s have started.`}
            </Text>
          ) : (
            <Table aria-label={`${noun}s of ${step.id}`} verticalSpacing={6}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{noun}</Table.Th>
                  <Table.Th>Status</Table.Th>
                  <Table.Th visibleFrom="xs">Attempts</Table.Th>
                  <Table.Th>Error</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {items.map(({ item, status, attempts, error }) => (
                  <Table.Tr key={item}>
                    <Table.Td>
                      <Anchor
                        component="button"
                        type="button"
                        size="sm"
                        onClick={() => onItem(item)}
                        aria-label={`${noun} ${item}`}
                      >
                        {item}
                      </Anchor>
                    </Table.Td>
                    <Table.Td>
                      <StatusBadge status={status} />
                    </Table.Td>
                    <Table.Td visibleFrom="xs">{attempts}</Table.Td>
                    <Table.Td style={{ overflowWrap: "anywhere" }}>
                      {error === null ? "" : firstSentence(error.message)}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )
        }
      </QueryContent>
      {total > PAGE_SIZE && <Pager noun={noun} total={total} from={from} onFrom={setFrom} onItem={onItem} />}
    </Section>
  );
}

interface PagerProps {
  noun: string;
  total: number;
  from: number;
  onFrom: (from: number) => void;
  onItem: (item: number) => void;
}

function Pager({ noun, total, from, onFrom, onItem }: PagerProps) {
  const [input, setInput] = useState<number | string>("");
  const last = Math.min(from + PAGE_SIZE, total);
  return (
    <Group gap="sm">
      <Button
        size="xs"
        variant="default"
        disabled={from === 0}
        onClick={() => onFrom(Math.max(0, from - PAGE_SIZE))}
      >
        Previous
      </Button>
      <Text size="sm" role="status">
        {noun}s {from}–{last - 1} ({total.toLocaleString()} in total)
      </Text>
      <Button size="xs" variant="default" disabled={last >= total} onClick={() => onFrom(last)}>
        Next
      </Button>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typeof input === "number") onItem(input);
        }}
      >
        <Group gap="xs">
          <NumberInput
            size="xs"
            w={110}
            aria-label={`${noun} number`}
            placeholder={noun}
            min={0}
            max={total - 1}
            allowDecimal={false}
            clampBehavior="strict"
            value={input}
            onChange={setInput}
          />
          <Button size="xs" variant="default" type="submit">
            Go to {noun.toLowerCase()}
          </Button>
        </Group>
      </form>
    </Group>
  );
}
