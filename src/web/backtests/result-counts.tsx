/** How many runs of a backtest have which result: a bar, and figures that filter the table of the runs. */
import { Card, Progress, SimpleGrid, Text } from "@mantine/core";
import { Link } from "react-router";
import type { Backtest } from "../../../schemas/backtest.ts";
import { describeCounts, RESULT_COLORS, RESULT_LABELS, RESULTS } from "./results.ts";

/** A run that is not comparable says little, so its part is not the darkest one. */
const BAR_COLORS = { ...RESULT_COLORS, not_comparable: "gray.6" };

/** One bar of all runs; what is missing at its end is pending. */
export function ResultBar({ runs, size = "md" }: { runs: Backtest["runs"]; size?: "sm" | "md" | "lg" }) {
  return (
    <Progress.Root
      size={size}
      role="img"
      aria-label={`Of ${runs.total.toLocaleString()} runs: ${describeCounts(runs)}`}
    >
      {RESULTS.filter((result) => runs[result] > 0).map((result) => (
        <Progress.Section
          key={result}
          value={(runs[result] / runs.total) * 100}
          color={BAR_COLORS[result]}
          withAria={false}
        />
      ))}
    </Progress.Root>
  );
}

/** A figure for each result, which links to its runs, and one for the pending runs while there are some. */
export function ResultFigures({ runs }: { runs: Backtest["runs"] }) {
  return (
    <SimpleGrid
      cols={{ base: 2, md: runs.pending > 0 ? 5 : 4 }}
      spacing="sm"
      role="group"
      aria-label="Runs by result"
    >
      {RESULTS.map((result) => (
        <Card
          key={result}
          component={Link}
          to={`?result=${result}`}
          replace
          preventScrollReset
          withBorder
          padding="sm"
          className="statistic"
        >
          <Figure
            count={runs[result]}
            label={RESULT_LABELS[result]}
            alarming={result === "failing" && runs.failing > 0}
          />
        </Card>
      ))}
      {runs.pending > 0 && (
        <Card withBorder padding="sm">
          <Figure count={runs.pending} label="pending" />
        </Card>
      )}
    </SimpleGrid>
  );
}

interface FigureProps {
  count: number;
  label: string;
  alarming?: boolean;
}

function Figure({ count, label, alarming = false }: FigureProps) {
  return (
    <>
      <Text size="1.5rem" lh={1.2} fw={650} {...(alarming && { c: "var(--mantine-color-error)" })}>
        {count.toLocaleString()}
      </Text>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
    </>
  );
}
