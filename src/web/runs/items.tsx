/** The items of a fan-out or the iterations of a loop, in pages; each opens its input and output. */
import { Anchor, Button, Group, NumberInput, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { RunStep } from "../../../schemas/run.ts";
import { FilterButtons } from "../ui/filter-buttons.tsx";
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

/** Opens with the failed ones, if there are any. */
export function Items({ run, step, revision, onItem }: ItemsProps) {
  const { total, failed, max } = step.items!;
  const [shown, setShown] = useState(failed > 0 ? ("failed" as const) : undefined);
  /** The first item of each page up to the shown one. */
  const [starts, setStarts] = useState<readonly number[]>([0]);
  const noun = max === undefined ? "Item" : "Iteration";
  const from = starts.at(-1)!;
  // Without an item, the API returns the first page.
  const query = useQuery(stepQuery(run.id, step.id, from === 0 ? undefined : from, revision, shown));
  const count = shown === undefined ? total : failed;
  const last = query.data?.item_list?.at(-1)?.item;
  const shownBefore = (starts.length - 1) * PAGE_SIZE;
  return (
    <Section title={`${noun}s`}>
      {failed > 0 && (
        <FilterButtons
          options={[
            { value: undefined, label: "All", count: total },
            { value: "failed" as const, label: "Failed", count: failed },
          ]}
          shown={shown}
          onChange={(to) => {
            setShown(to);
            setStarts([0]);
          }}
        />
      )}
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
      {count > PAGE_SIZE && (
        <Pager
          label={
            shown === undefined
              ? `${noun}s ${from}–${Math.min(from + PAGE_SIZE, total) - 1} (${total.toLocaleString()} in total)`
              : `Failed ${shownBefore + 1}–${Math.min(shownBefore + PAGE_SIZE, failed)} of ${failed.toLocaleString()}`
          }
          onPrevious={from === 0 ? undefined : () => setStarts(starts.slice(0, -1))}
          onNext={
            last === undefined || query.isPlaceholderData || shownBefore + PAGE_SIZE >= count
              ? undefined
              : () => setStarts([...starts, last + 1])
          }
        />
      )}
      {total > PAGE_SIZE && <GoToItem noun={noun} total={total} onItem={onItem} />}
    </Section>
  );
}

interface PagerProps {
  label: string;
  /** Undefined on the first page. */
  onPrevious: (() => void) | undefined;
  /** Undefined on the last page, and while the next one can't be known. */
  onNext: (() => void) | undefined;
}

function Pager({ label, onPrevious, onNext }: PagerProps) {
  return (
    <Group gap="sm">
      <Button size="xs" variant="default" disabled={onPrevious === undefined} onClick={onPrevious}>
        Previous
      </Button>
      <Text size="sm" role="status">
        {label}
      </Text>
      <Button size="xs" variant="default" disabled={onNext === undefined} onClick={onNext}>
        Next
      </Button>
    </Group>
  );
}

interface GoToItemProps {
  noun: string;
  total: number;
  onItem: (item: number) => void;
}

function GoToItem({ noun, total, onItem }: GoToItemProps) {
  const [input, setInput] = useState<number | string>("");
  return (
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
  );
}
