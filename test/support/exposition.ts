/**
 * A strict parser of Prometheus' text format, slightly stricter than promtool.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */

interface Sample {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

export interface MetricFamily {
  type: string;
  samples: Sample[];
}

const NAME = /^[a-z][a-z0-9_]*$/;
const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;

/** @throws Error that names the invalid line and the reason */
export function parseExposition(text: string): Map<string, MetricFamily> {
  const families = new Map<string, MetricFamily>();
  const seen = new Set<string>();
  let help: string | undefined;
  let current: [string, MetricFamily] | undefined;
  if (!text.endsWith("\n")) throw new Error("the text does not end with a line feed");
  for (const line of text.split("\n")) {
    const fail = (why: string): never => {
      throw new Error(`${why}: ${line}`);
    };
    if (line === "") continue;
    if (line.startsWith("# HELP ")) {
      help = /^# HELP (\S+) \S/.exec(line)?.[1] ?? fail("a help without a name or text");
    } else if (line.startsWith("# TYPE ")) {
      const [, name, type] = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line) ?? fail("no type");
      if (name !== help) fail("a type without its help before it");
      if (families.has(name!)) fail("a family in two places");
      if (!NAME.test(name!)) fail("no good name");
      if ((type === "counter") !== name!.endsWith("_total")) fail("counters, and they alone, are totals");
      current = [name!, { type: type!, samples: [] }];
      families.set(...current);
    } else if (line.startsWith("#")) {
      fail("a comment that is neither help nor type");
    } else {
      const [, name = "", labels = "", value = ""] = LINE.exec(line) ?? fail("no sample");
      const sample = { name, labels: parseLabels(labels, fail), value: numberOf(value, fail) };
      if (current === undefined || !belongs(name, current[0], current[1].type))
        fail("a sample without its type");
      const identity = `${name} ${identityOf(sample.labels)}`;
      if (seen.has(identity)) fail("the same series twice");
      seen.add(identity);
      if (current![1].type === "counter" && !(sample.value >= 0)) fail("a counter below 0");
      current![1].samples.push(sample);
    }
  }
  for (const [name, family] of families) if (family.type === "histogram") checkHistogram(name, family);
  return families;
}

const identityOf = (labels: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => a.localeCompare(b)));

const belongs = (sample: string, family: string, type: string): boolean =>
  type === "histogram"
    ? ["_bucket", "_sum", "_count"].some((suffix) => sample === family + suffix)
    : sample === family;

function parseLabels(text: string, fail: (why: string) => never): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  for (let at = 0; at < text.length; at = LABEL.lastIndex) {
    const [, name, value] = LABEL.exec(text) ?? fail("labels that are none");
    if (Object.hasOwn(labels, name!)) fail("a label twice");
    labels[name!] = value!;
  }
  return labels;
}

function numberOf(text: string, fail: (why: string) => never): number {
  // prom-client writes Nan; the format refers to Go's ParseFloat, which ignores case.
  if (/^nan$/i.test(text)) return NaN;
  if (text === "+Inf" || text === "-Inf") return text === "+Inf" ? Infinity : -Infinity;
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : fail("no number");
}

const grows = (list: readonly number[], least: number): boolean =>
  list.every((it, index) => index === 0 || it - list[index - 1]! >= least);

/** Checks that buckets increase, and that the last one is +Inf and equals the count. */
function checkHistogram(family: string, { samples }: MetricFamily): void {
  const series = Map.groupBy(samples, ({ labels }) => identityOf({ ...labels, le: "" }));
  for (const [labels, of] of series) {
    const buckets = of.filter(({ name }) => name === `${family}_bucket`);
    const bounds = buckets.map((it) => (it.labels["le"] === "+Inf" ? Infinity : Number(it.labels["le"])));
    const count = of.find(({ name }) => name === `${family}_count`)?.value;
    const sum = of.some(({ name }) => name === `${family}_sum`);
    const whole =
      grows(bounds, Number.MIN_VALUE) &&
      bounds.at(-1) === Infinity &&
      grows(
        buckets.map(({ value }) => value),
        0,
      ) &&
      buckets.at(-1)!.value === count &&
      sum;
    if (!whole) throw new Error(`no whole histogram: ${family} ${labels}`);
  }
}

/** The sum of the samples with these labels; 0 without any. */
export function sumSamples(
  families: ReadonlyMap<string, MetricFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ""));
  if (family === undefined) throw new Error(`there is no ${name}`);
  return family.samples
    .filter(
      (it) => it.name === name && Object.entries(labels).every(([key, value]) => it.labels[key] === value),
    )
    .reduce((sum, { value }) => sum + value, 0);
}
