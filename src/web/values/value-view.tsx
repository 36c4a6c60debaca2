/** Any value that a step took or gave, in the form that suits it. */
import { Box, Group, Tabs, Text } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import { LoadingSkeleton } from "../ui/page.tsx";
import { TruncatedValue } from "./truncated-value.tsx";
import { JsonTree } from "./json-tree.tsx";
import { isTruncated, classifyValue } from "./classify-value.ts";
import { suggestChart, type Rows } from "./rows.ts";
import { RowsTable } from "./rows-table.tsx";
import { ExportMenu } from "./export-menu.tsx";
import { TextValue } from "./text-value.tsx";

const RowsChart = lazy(() => import("./rows-chart.tsx"));

interface ValueViewProps {
  value: unknown;
  /** What it is: "Output of revenue". It names the tables, trees and files that are made of it. */
  label: string;
  /** How to get the whole of a value that the server cut. */
  loadFull?: (() => Promise<unknown>) | undefined;
}

/** @param value any JSON; undefined where nothing is recorded */
export function ValueView({ value, label, loadFull }: ValueViewProps) {
  const [loaded, setLoaded] = useState<{ ref: string; value: unknown }>();
  if (!isTruncated(value)) return <WholeValue value={value} label={label} />;
  if (loaded?.ref === value.ref) return <WholeValue value={loaded.value} label={label} />;
  const { ref } = value;
  return (
    <TruncatedValue
      key={ref}
      payload={value}
      loadFull={loadFull}
      onLoaded={(result) => setLoaded({ ref, value: result })}
    />
  );
}

interface View {
  name: string;
  view: ReactNode;
}

function WholeValue({ value, label }: { value: unknown; label: string }) {
  const what = useMemo(() => classifyValue(value), [value]);
  const rows = what.kind === "rows" ? what.rows : undefined;
  const chart = useMemo(() => (rows === undefined ? null : suggestChart(rows.rows, rows.columns)), [rows]);
  if (what.kind === "nothing")
    return (
      <Text size="sm" c="dimmed">
        {what.words}
      </Text>
    );
  if (what.kind === "plain")
    return (
      <Text size="sm" ff="monospace">
        {what.text}
      </Text>
    );
  const views: View[] = [];
  if (rows !== undefined) views.push({ name: "Table", view: <RowsView rows={rows} label={label} /> });
  if (rows !== undefined && chart !== null)
    views.push({
      name: "Chart",
      view: (
        <Suspense fallback={<LoadingSkeleton rows={3} />}>
          <RowsChart chart={chart} rows={rows.rows} />
        </Suspense>
      ),
    });
  if (what.kind === "text") views.push({ name: "Text", view: <TextValue text={what.text} /> });
  if (what.kind !== "text" || what.inside)
    views.push({ name: "JSON", view: <JsonTree value={value as object} label={label} /> });
  return (
    <Views views={views} actions={<ExportMenu value={value} label={label} rows={rows} />} label={label} />
  );
}

/** The views of one value as tabs, where there is more than one. */
function Views({ views, actions, label }: { views: readonly View[]; actions: ReactNode; label: string }) {
  const [asked, setAsked] = useState<string | null>(null);
  const [first] = views;
  const current = views.find(({ name }) => name === asked) ?? first!;
  if (views.length === 1)
    return (
      <Box>
        <Group justify="flex-end" mb="xs">
          {actions}
        </Group>
        {current.view}
      </Box>
    );
  return (
    <Tabs value={current.name} onChange={setAsked} keepMounted={false}>
      <Group justify="space-between" gap="xs" mb="sm">
        <Tabs.List aria-label={`Views of ${label}`}>
          {views.map(({ name }) => (
            <Tabs.Tab key={name} value={name}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {actions}
      </Group>
      {views.map(({ name, view }) => (
        <Tabs.Panel key={name} value={name}>
          {view}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

function RowsView({ rows, label }: { rows: Rows; label: string }) {
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs">
        {countOf(rows)}
      </Text>
      {rows.columns.length > 0 && rows.rows.length > 0 && <RowsTable rows={rows} label={label} />}
    </>
  );
}

const count = (n: number): string => `${n.toLocaleString("en")} ${n === 1 ? "row" : "rows"}`;

/** How many rows there are, or were changed, in words. */
function countOf({ rows, columns, rowCount, truncated }: Rows): string {
  if (truncated) return `The first ${count(rows.length)}. The query found more than the step may give.`;
  if (rows.length > 0) return count(rows.length);
  if (rowCount !== null && rowCount > 0) return `No rows to show; ${count(rowCount)} changed.`;
  const names = columns.map(({ name }) => name).join(", ");
  return names === "" ? "No rows." : `No rows. Its columns: ${names}.`;
}
