/** The items of a fan-out or the iterations of a loop, in pages; each opens its input and output. */
import { Anchor, Button, Group, NumberInput, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/runs";
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
  const kind = max === undefined ? "item" : "iteration";
  // Without an item, the API returns the first page.
  const query = useQuery(stepQuery(run.id, step.id, from === 0 ? undefined : from, revision));
  return (
    <Section title={texts.itemsName({ kind })}>
      <QueryContent query={query}>
        {({ item_list: items = [] }) =>
          items.length === 0 ? (
            <Text size="sm" c="dimmed">
              {total === 0 ? texts.listEmpty : texts.noneStarted({ kind })}
            </Text>
          ) : (
            <Table aria-label={texts.itemsOf({ kind, step: step.id })} verticalSpacing={6}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{texts.itemName({ kind })}</Table.Th>
                  <Table.Th>{texts.status}</Table.Th>
                  <Table.Th visibleFrom="xs">{texts.attempts}</Table.Th>
                  <Table.Th>{texts.error}</Table.Th>
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
                        aria-label={texts.itemNumbered({ kind, item })}
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
      {total > PAGE_SIZE && <Pager kind={kind} total={total} from={from} onFrom={setFrom} onItem={onItem} />}
    </Section>
  );
}

interface PagerProps {
  kind: "item" | "iteration";
  total: number;
  from: number;
  onFrom: (from: number) => void;
  onItem: (item: number) => void;
}

function Pager({ kind, total, from, onFrom, onItem }: PagerProps) {
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
        {texts.previous}
      </Button>
      <Text size="sm" role="status">
        {texts.itemRange({ kind, from, to: last - 1, total })}
      </Text>
      <Button size="xs" variant="default" disabled={last >= total} onClick={() => onFrom(last)}>
        {texts.next}
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
            aria-label={texts.itemNumber({ kind })}
            placeholder={texts.itemName({ kind })}
            min={0}
            max={total - 1}
            allowDecimal={false}
            clampBehavior="strict"
            value={input}
            onChange={setInput}
          />
          <Button size="xs" variant="default" type="submit">
            {texts.goToItem({ kind })}
          </Button>
        </Group>
      </form>
    </Group>
  );
}
