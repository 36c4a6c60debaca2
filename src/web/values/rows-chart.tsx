/** Rows as a bar or line chart. Loaded on demand because of the size of the chart library. */
import "@mantine/charts/styles.css";
import { BarChart, LineChart } from "@mantine/charts";
import { Box } from "@mantine/core";
import { useMemo } from "react";
import { buildChartData, describeChart, X_KEY } from "./chart-data.ts";
import type { Chart, Row } from "./rows.ts";

const COLORS = ["cyan.7", "orange.8", "grape.5", "lime.9"];
/** Maximum length of a label on the x-axis. */
const LABEL_CHARS = 14;

/** Maximum width of a bar, in pixels: one alone would be as wide as the chart. */
const MAX_BAR_PX = 120;

const valueFormat = new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 });
const axisFormat = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 2 });

export default function RowsChart({ chart, rows }: { chart: Chart; rows: readonly Row[] }) {
  const { colors = COLORS } = chart;
  const { data, series, hasRightAxis } = useMemo(() => buildChartData(chart, rows), [chart, rows]);
  const shared = {
    h: 320,
    data,
    dataKey: X_KEY,
    series: series.map(({ key, label, onRightAxis }, index) => ({
      name: key,
      label: onRightAxis ? `${label} (right axis)` : label,
      color: colors[index]!,
      yAxisId: onRightAxis ? "right" : "left",
    })),
    withLegend: true,
    withRightYAxis: hasRightAxis,
    valueFormatter: (value: number) => valueFormat.format(value),
    xAxisProps: { tickFormatter: truncateLabel },
    yAxisProps: { yAxisId: "left", tickFormatter: axisFormat.format, width: 56 },
    gridProps: { yAxisId: "left" },
    rightYAxisProps: { tickFormatter: axisFormat.format, width: 56 },
    // The chart is a single image with a text alternative, so nothing inside of it takes the focus.
    accessibilityLayer: false,
  };
  return (
    <Box role="img" aria-label={describeChart(chart, rows)}>
      {chart.kind === "bar" ? (
        <BarChart
          {...shared}
          type={chart.layout === "stacked" ? "stacked" : "default"}
          maxBarWidth={MAX_BAR_PX}
        />
      ) : (
        <LineChart {...shared} curveType="linear" withDots={rows.length <= 40} />
      )}
    </Box>
  );
}

const truncateLabel = (label: unknown): string => {
  const text = String(label);
  return text.length <= LABEL_CHARS ? text : `${text.slice(0, LABEL_CHARS - 1).toWellFormed()}…`;
};
