/** What the steps would have sent, written or asked, beside what they did; and time and tokens. */
import { Box, Card, Group, Stack, Table, Text } from "@mantine/core";
import type { Backtest, BacktestEffect } from "../../../schemas/backtest.ts";
import { RunLink } from "../runs/facts.tsx";
import { formatDuration } from "../ui/duration.ts";
import { Differences } from "./differences.tsx";
import { describeAmount } from "./results.ts";

const COUNTS = ["unchanged", "changed", "added", "removed"] as const;

export function Effects({ effects }: { effects: readonly BacktestEffect[] }) {
  if (effects.length === 0) return <Text size="sm">No step of these runs has effects.</Text>;
  return (
    <>
      <Table aria-label="Effects" verticalSpacing="xs" visibleFrom="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Step</Table.Th>
            {COUNTS.map((count) => (
              <Table.Th key={count} ta="right">
                {capitalize(count)}
              </Table.Th>
            ))}
            <Table.Th>First change</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {effects.map((effect) => (
            <Table.Tr key={effect.step} style={{ verticalAlign: "top" }}>
              <Table.Td>
                <StepName effect={effect} />
              </Table.Td>
              {COUNTS.map((count) => (
                <Table.Td key={count} ta="right" {...(isChange(count, effect) && { fw: 700 })}>
                  {effect[count].toLocaleString()}
                </Table.Td>
              ))}
              <Table.Td>
                <FirstChange effect={effect} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Stack
        gap="sm"
        hiddenFrom="sm"
        component="ul"
        m={0}
        p={0}
        aria-label="Effects"
        style={{ listStyle: "none" }}
      >
        {effects.map((effect) => (
          <Card key={effect.step} withBorder component="li" p="sm">
            <StepName effect={effect} />
            <Group gap="sm" my={4}>
              {COUNTS.map((count) => (
                <Text key={count} size="sm" {...(isChange(count, effect) ? { fw: 700 } : { c: "dimmed" })}>
                  {effect[count].toLocaleString()} {count}
                </Text>
              ))}
            </Group>
            <FirstChange effect={effect} />
          </Card>
        ))}
      </Stack>
    </>
  );
}

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const isChange = (count: (typeof COUNTS)[number], effect: BacktestEffect): boolean =>
  count !== "unchanged" && effect[count] > 0;

function StepName({ effect: { step, type } }: { effect: BacktestEffect }) {
  return (
    <Text size="sm" style={{ overflowWrap: "anywhere" }}>
      <Text span fw={600} inherit>
        {step}
      </Text>{" "}
      <Text span c="dimmed" size="xs">
        {type}
      </Text>
    </Text>
  );
}

function FirstChange({ effect: { first } }: { effect: BacktestEffect }) {
  if (first === undefined) return null;
  return (
    <Box>
      <Differences differences={first.differences} />
      <Text size="xs" c="dimmed">
        in <RunLink id={first.run_id} />
      </Text>
    </Box>
  );
}

/** Time of the steps, and tokens and cost of models, before and after; nothing where no step called anything. */
export function Amounts({ backtest: { step_ms: time, tokens, cost } }: { backtest: Backtest }) {
  if (time === undefined || tokens === undefined || cost === undefined || !isUsed(time)) return null;
  return (
    <Text size="sm">
      Time of the steps: {describeAmount(time, formatDuration)}.
      {isUsed(tokens) && ` Tokens of models: ${describeAmount(tokens, (amount) => amount.toLocaleString())}.`}
      {isUsed(cost) && ` Cost of models: ${describeAmount(cost, formatCost)}.`}{" "}
      <Text span c="dimmed" inherit>
        Outputs that were reused count with their recorded time.
      </Text>
    </Text>
  );
}

const isUsed = ({ before, after }: { before: number; after: number }): boolean => before > 0 || after > 0;

const formatCost = (amount: number): string =>
  amount.toLocaleString(undefined, { maximumSignificantDigits: 4 });
