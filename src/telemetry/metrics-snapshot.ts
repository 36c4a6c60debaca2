/** What several processes have counted, as one: a listener shows its executors' numbers with its own. */
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, Registry } from "prom-client";

/** The metrics of one process at one moment; plain JSON, so that it can be sent. */
export type MetricsSnapshot = MetricObjectWithValues<MetricValue<string>>[];

export const METRICS_CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

/** The text that Prometheus reads (exposition format 0.0.4). */
export const renderExposition = (snapshots: readonly MetricsSnapshot[]): Promise<string> =>
  sum(snapshots).metrics();

/**
 * Adds what a process had counted that is gone, so that no counter goes down with it: to Prometheus that would be a
 * restart, after which everything counts once more. What only held while it lived (memory, open files) is left out.
 */
export const mergeExitedProcess = (gone: MetricsSnapshot, last: MetricsSnapshot): Promise<MetricsSnapshot> =>
  sum([gone, last.filter(({ type }) => COUNTING.has(String(type)))]).getMetricsAsJSON();

const COUNTING: ReadonlySet<string> = new Set(["counter", "histogram"]);

function sum(snapshots: readonly MetricsSnapshot[]): Registry {
  const kept = snapshots.map((snapshot) => snapshot.map(withAggregator));
  return AggregatorRegistry.aggregate(kept);
}

/** The library leaves the start time out where processes are put together; of one's executors the first one's is told. */
const withAggregator = (metric: MetricsSnapshot[number]): MetricsSnapshot[number] =>
  metric.aggregator === "omit" ? { ...metric, aggregator: "min" } : metric;
