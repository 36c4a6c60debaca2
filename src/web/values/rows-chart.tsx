/** Rows as a bar or line chart. Loaded on demand because of the size of the chart library. */
import "@mantine/charts/styles.css";
import { BarChart, LineChart } from "@mantine/charts";
import { Box } from "@mantine/core";
import { useMemo } from "react";
import * as texts from "#texts/values";
import { formatNumber } from "../locale/locale.ts";
import { buildChartData, describeChart, X_KEY } from "./chart-data.ts";
import type { Chart, Row } from "./rows.ts";

const COLORS = ["cyan.7", "orange.8", "grape.5", "lime.9"];
/** Maximum length of a label on the x-axis. */
const LABEL_CHARS = 14;

const formatValue = (value: number): string => formatNumber(value, { maximumFractionDigits: 6 });
const formatAxisValue = (value: number): string =>
  formatNumber(value, { notation: "compact", maximumFractionDigits: 2 });

export default function RowsChart({ chart, rows }: { chart: Chart; rows: readonly Row[] }) {
  const { data, series, hasRightAxis } = useMemo(() => buildChartData(chart, rows), [chart, rows]);
  const shared = {
    h: 320,
    data,
    dataKey: X_KEY,
    series: series.map(({ key, label, onRightAxis }, index) => ({
      name: key,
      label: onRightAxis ? texts.rightAxis({ label }) : label,
      color: COLORS[index]!,
      yAxisId: onRightAxis ? "right" : "left",
    })),
    withLegend: true,
    withRightYAxis: hasRightAxis,
    valueFormatter: formatValue,
    xAxisProps: { tickFormatter: truncateLabel },
    yAxisProps: { yAxisId: "left", tickFormatter: formatAxisValue, width: 56 },
    gridProps: { yAxisId: "left" },
    rightYAxisProps: { tickFormatter: formatAxisValue, width: 56 },
    // The chart is a single image with a text alternative, so nothing inside of it takes the focus.
    accessibilityLayer: false,
  };
  return (
    <Box role="img" dir="ltr" aria-label={describeChart(chart, rows)}>
      {chart.kind === "bar" ? (
        <BarChart {...shared} />
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
