/** Sums the metrics of several processes: a listener shows those of its executors with its own. */
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, Registry } from "prom-client";

/** The metrics of one process at one time, as plain JSON that can be sent between processes. */
export type MetricsSnapshot = MetricObjectWithValues<MetricValue<string>>[];

export const METRICS_CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

/** Renders Prometheus' text format (exposition format 0.0.4). */
export const renderExposition = (snapshots: readonly MetricsSnapshot[]): Promise<string> =>
  sum(snapshots).metrics();

/**
 * Adds the counters of an exited process, because Prometheus would treat a decreasing counter as a restart. Gauges of the
 * process, such as its memory and open files, are left out.
 */
export const mergeExitedProcess = (total: MetricsSnapshot, last: MetricsSnapshot): Promise<MetricsSnapshot> =>
  sum([total, last.filter(({ type }) => CUMULATIVE_TYPES.has(String(type)))]).getMetricsAsJSON();

const CUMULATIVE_TYPES: ReadonlySet<string> = new Set(["counter", "histogram"]);

function sum(snapshots: readonly MetricsSnapshot[]): Registry {
  return AggregatorRegistry.aggregate(snapshots.map((snapshot) => snapshot.map(withAggregator)));
}

/** prom-client omits the start time when it aggregates processes; this keeps the earliest one. */
const withAggregator = (metric: MetricsSnapshot[number]): MetricsSnapshot[number] =>
  metric.aggregator === "omit" ? { ...metric, aggregator: "min" } : metric;
