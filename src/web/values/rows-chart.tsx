/** Rows as a simple chart. Loaded when it is first looked at; the table says the same in words. */
import "@mantine/charts/styles.css";
import { BarChart, LineChart } from "@mantine/charts";
import { Box } from "@mantine/core";
import { useMemo } from "react";
import { buildChartData, describeChart } from "./chart-data.ts";
import type { Chart, Row } from "./rows.ts";

const COLORS = ["cyan.7", "orange.8", "grape.5", "lime.9"];
const LABEL_CHARS = 14;

const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 });
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 2 });

export default function RowsChart({ chart, rows }: { chart: Chart; rows: readonly Row[] }) {
  const { data, series, hasRight } = useMemo(() => buildChartData(chart, rows), [chart, rows]);
  const shared = {
    h: 320,
    data,
    dataKey: "along",
    series: series.map(({ key, label, right }, index) => ({
      name: key,
      label: right ? `${label} (right axis)` : label,
      color: COLORS[index]!,
      yAxisId: right ? "right" : "left",
    })),
    withLegend: true,
    withRightYAxis: hasRight,
    valueFormatter: (value: number) => number.format(value),
    xAxisProps: { tickFormatter: cut },
    yAxisProps: { yAxisId: "left", tickFormatter: short.format, width: 56 },
    gridProps: { yAxisId: "left" },
    rightYAxisProps: { tickFormatter: short.format, width: 56 },
    // It is one picture with a name: nothing inside of it takes the focus.
    accessibilityLayer: false,
  };
  return (
    <Box role="img" aria-label={describeChart(chart, rows)}>
      {chart.kind === "bar" ? (
        <BarChart {...shared} />
      ) : (
        <LineChart {...shared} curveType="linear" withDots={rows.length <= 40} />
      )}
    </Box>
  );
}

const cut = (label: unknown): string => {
  const text = String(label);
  return text.length <= LABEL_CHARS ? text : `${text.slice(0, LABEL_CHARS - 1).toWellFormed()}…`;
};
