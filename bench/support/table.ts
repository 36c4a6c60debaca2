/** Formats results as tables, for a terminal and for bench/README.md. */

export interface Row {
  label: string;
  value: string;
  baseline?: string;
  ratio?: string;
  /** CPU time of the baseline divided by that of Millrace, which `--check` compares with bench/ratios.json. */
  cpuRatio?: number;
  goal?: string;
  /** Undefined when there is no goal. */
  goalMet?: boolean;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const perSecond = (value: number): string => `${Math.round(value).toLocaleString("en")}/s`;
export const microseconds = (value: number): string => `${Math.round(value)} µs`;
export const milliseconds = (value: number): string =>
  `${value < 10 ? value.toFixed(2) : Math.round(value)} ms`;
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
export const kilobytes = (bytes: number): string => `${(bytes / 1e3).toFixed(0)} KB`;
export const percent = (share: number): string => `${Math.round(share * 100)} %`;
export const formatFactor = (ratio: number): string => `${ratio.toFixed(2)}×`;

/** A ratio by throughput, and by CPU time. */
export const formatRatios = (
  show: (ratio: number) => string,
  ratio: { throughput: number; cpu: number },
): string => `${show(ratio.throughput)} (CPU ${show(ratio.cpu)})`;

/** A Markdown table with its columns aligned. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

export function resultTable(rows: readonly Row[]): string {
  return table(
    ["what", "value", "baseline", "ratio", "goal", ""],
    rows.map(({ label, value, baseline = "", ratio = "", goal = "", goalMet }) => [
      label,
      value,
      baseline,
      ratio,
      goal,
      goalMet === undefined ? "" : goalMet ? "met" : "missed",
    ]),
  );
}
