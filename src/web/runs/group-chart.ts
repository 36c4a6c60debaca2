/** A bar chart of groups of runs: a bar for each value of the first key, with parts by status or by the other keys. */
import type { RunStatus } from "../../../schemas/run.ts";
import type { RunGroup } from "../../../schemas/run-groups.ts";
import { STATUS_COLORS } from "../ui/status-colors.ts";
import type { Chart, Row } from "../values/rows.ts";
import { fieldLabel, groupLabel, hourLabel } from "./group-fields.ts";
import { MEASURE_PARTS, type MeasurePart, statusesIn } from "./group-rows.ts";

/** Maximum number of bars. */
export const MAX_BARS = 200;
/** Maximum number of values of the other keys; the rest are one part of each bar. */
const MAX_PARTS = 8;

/** Shades that differ between statuses with the same color. */
const SHADES: Readonly<Record<RunStatus, number>> = {
  succeeded: 7,
  failed: 7,
  running: 6,
  waiting: 6,
  queued: 4,
  cancelled: 7,
};
const PART_COLORS = [
  "cyan.7",
  "orange.7",
  "grape.6",
  "lime.8",
  "indigo.6",
  "pink.6",
  "yellow.6",
  "teal.8",
] as const;
const REST_COLOR = "gray.6";

const statusColor = (status: RunStatus): string => `${STATUS_COLORS[status]}.${SHADES[status]}`;

export interface ChartChoice {
  value: string;
  label: string;
}

/** What a chart can show: numbers of runs, durations, and the measures. The value is part of the URL. */
export const chartChoices = (measures: readonly string[]): ChartChoice[] => [
  { value: "", label: "Number of runs" },
  { value: "median", label: "Median duration in ms" },
  { value: "p95", label: "95th percentile of durations in ms" },
  ...measures.flatMap((name) =>
    MEASURE_PARTS.map((part) => ({ value: `${part}:${name}`, label: `${name}: ${PART_LABELS[part]}` })),
  ),
];

const PART_LABELS: Readonly<Record<MeasurePart, string>> = {
  min: "minimum",
  max: "maximum",
  mean: "mean",
  sum: "sum",
};

interface ChartInput {
  groups: readonly RunGroup[];
  /** What they are grouped by. */
  groupBy: readonly string[];
  /** One of the values of `chartChoices`; another one, as from an old link, is ignored. */
  choice: string;
  measures: readonly string[];
  /** The names of workflows by their ids. */
  names: ReadonlyMap<string, string>;
  /** The days that are counted, where they are known: those without runs are shown too. */
  days: { from?: string | undefined; to?: string | undefined };
}

export interface GroupChart {
  chart: Chart;
  rows: readonly Row[];
}

/** A part of the bars. */
interface Part {
  label: string;
  color: string;
  /** What a group adds to the part; null if it has no number, undefined if it belongs to another part. */
  numberOf: (group: RunGroup) => number | null | undefined;
}

/** @returns undefined without a key, and for too many bars */
export function groupChart(input: ChartInput): GroupChart | undefined {
  const { groups, groupBy, names, days } = input;
  const [xName, ...others] = groupBy;
  if (xName === undefined || groups.length === 0) return undefined;
  const bars = barsOf(groups, xName, names, days);
  if (bars.size > MAX_BARS) return undefined;
  const choices = chartChoices(input.measures);
  const choice = choices.find(({ value }) => value === input.choice) ?? choices[0]!;
  const parts =
    others.length > 0
      ? partsByKeys(groups, others, choice.value, names)
      : choice.value === ""
        ? partsByStatus(groups)
        : [{ label: choice.label, color: PART_COLORS[0], numberOf: numberReader(choice.value) }];
  // Rows have columns by name, so no two of them may have the same one.
  const xLabel = fieldLabel(xName);
  const labels = distinctLabels([xLabel, ...parts.map(({ label }) => label)]).slice(1);
  const isCount = choice.value === "";
  for (const group of groups) {
    const numbers = bars.get(keyOf(group, xName))!.numbers;
    for (const [index, { numberOf }] of parts.entries()) {
      const number = numberOf(group);
      if (number !== undefined && number !== null)
        numbers.set(labels[index]!, (numbers.get(labels[index]!) ?? 0) + number);
    }
  }
  return {
    chart: {
      kind: "bar",
      xAxis: { name: xLabel, kind: "text" },
      series: labels.map((name) => ({ name, kind: "number" })),
      layout: isCount ? "stacked" : "grouped",
      colors: parts.map(({ color }) => color),
    },
    rows: [...bars.values()].map(({ label, numbers }) =>
      Object.fromEntries<string | number | null>([
        [xLabel, label],
        ...labels.map((name) => [name, numbers.get(name) ?? (isCount ? 0 : null)] as const),
      ]),
    ),
  };
}

interface Bar {
  label: string;
  numbers: Map<string, number>;
}

/** A text that equal values share, and no others; empty for runs without a value. */
const keyOf = ({ by }: RunGroup, name: string): string =>
  Object.hasOwn(by, name) ? JSON.stringify(by[name]) : "";

function barsOf(
  groups: readonly RunGroup[],
  name: string,
  names: ReadonlyMap<string, string>,
  days: ChartInput["days"],
): Map<string, Bar> {
  const labels = new Map(groups.map((group) => [keyOf(group, name), groupLabel(group.by, name, names)]));
  const times = groups.map(({ by }) => String(by[name]));
  for (const time of timesBetween(name, times, days)) {
    const key = JSON.stringify(time);
    // Those that are in between come after the others here, and are sorted below.
    if (!labels.has(key)) labels.set(key, name === "hour" ? hourLabel(time) : time);
  }
  const bars = Array.from(labels, ([key, label]): [string, Bar] => [key, { label, numbers: new Map() }]);
  return new Map(isTime(name) ? bars.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))) : bars);
}

const isTime = (name: string): boolean => name === "hour" || name === "day" || name === "month";

/** The next local time of a key: local times are counted as those of UTC, which has no change of the clock. */
const NEXT: Readonly<Record<string, (time: string) => string>> = {
  hour: (time) => later(`${time}Z`, 3_600_000).slice(0, 16),
  day: (time) => later(time, 86_400_000).slice(0, 10),
  // 31 days after its first day is always the next month.
  month: (time) => later(`${time}-01`, 31 * 86_400_000).slice(0, 7),
};

const later = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString();

/** The times from the first to the last one; none for other keys, and if they are too many to show. @param times not empty */
export function timesBetween(
  name: string,
  times: readonly string[],
  { from, to }: ChartInput["days"] = {},
): string[] {
  const next = NEXT[name];
  if (next === undefined) return [];
  const bounds = name === "day" ? [from, to].filter((day) => day !== undefined) : [];
  const sorted = [...times, ...bounds].toSorted((a, b) => (a < b ? -1 : Number(a > b)));
  const [first, last] = [sorted[0]!, sorted.at(-1)!];
  const filled: string[] = [];
  for (let time = first; time <= last; time = next(time)) {
    if (filled.length === MAX_BARS) return [];
    filled.push(time);
  }
  return filled;
}

const partsByStatus = (groups: readonly RunGroup[]): Part[] =>
  statusesIn(groups).map((status) => ({
    label: status,
    color: statusColor(status),
    numberOf: ({ statuses }) => statuses[status] ?? 0,
  }));

/** Parts by the values of the other keys, those with the most runs first; numbers of runs also have a part of the rest. */
function partsByKeys(
  groups: readonly RunGroup[],
  keys: readonly string[],
  choice: string,
  names: ReadonlyMap<string, string>,
): Part[] {
  const idOf = (group: RunGroup): string => JSON.stringify(keys.map((key) => keyOf(group, key)));
  const found = new Map<string, { label: string; runs: number; status: RunStatus | undefined }>();
  for (const group of groups) {
    const id = idOf(group);
    const status = keys.length === 1 && keys[0] === "status" ? (group.by["status"] as RunStatus) : undefined;
    const label = keys.map((key) => groupLabel(group.by, key, names)).join(" · ");
    const part = found.get(id) ?? { label, runs: 0, status };
    part.runs += group.runs;
    found.set(id, part);
  }
  const largest = [...found].toSorted(([, a], [, b]) => b.runs - a.runs).slice(0, MAX_PARTS);
  const shown = new Set(largest.map(([id]) => id));
  const read = numberReader(choice);
  const parts = largest.map(([id, { label, status }], index): Part => ({
    label,
    color: status === undefined ? PART_COLORS[index]! : statusColor(status),
    numberOf: (group) => (idOf(group) === id ? read(group) : undefined),
  }));
  // The mean or the median of several groups is not known.
  if (choice !== "" || found.size <= MAX_PARTS) return parts;
  const rest: Part = {
    label: "other",
    color: REST_COLOR,
    numberOf: (group) => (shown.has(idOf(group)) ? undefined : group.runs),
  };
  return [...parts, rest];
}

/** @returns a function that gives what a chart shows of a group; null if it has no number there */
function numberReader(choice: string): (group: RunGroup) => number | null {
  if (choice === "") return ({ runs }) => runs;
  if (choice === "median" || choice === "p95")
    return ({ duration_ms: duration }) => duration?.[choice] ?? null;
  const part = choice.slice(0, choice.indexOf(":")) as MeasurePart;
  const name = choice.slice(choice.indexOf(":") + 1);
  return ({ measures }) => {
    const number = measures?.[name]?.[part];
    return number === undefined || number === null ? null : Number(number);
  };
}

/** Labels of which equal ones have a number: "Weekly", "Weekly (2)". */
function distinctLabels(labels: readonly string[]): string[] {
  const used = new Set<string>();
  return labels.map((label) => {
    let distinct = label;
    for (let number = 2; used.has(distinct); number += 1) distinct = `${label} (${number})`;
    used.add(distinct);
    return distinct;
  });
}
