/** Checks the dashboard and the alert rules against the existing metrics: a query for a missing one would be empty. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { MetricFamily } from "../support/exposition.ts";
import { exercisedMetrics, readMetrics } from "../support/metrics.ts";

const deployed = (file: string): string =>
  readFileSync(new URL(`../../deploy/${file}`, import.meta.url), "utf8");

interface Dashboard {
  panels: {
    id: number;
    title: string;
    type: string;
    gridPos: { x: number; y: number; w: number; h: number };
    fieldConfig?: { defaults: { unit?: string } };
    targets?: { expr: string; legendFormat: string; datasource: { uid: string } }[];
  }[];
  templating: { list: { name: string; type: string; definition?: string }[] };
}

interface Rules {
  groups: {
    rules: {
      alert: string;
      expr: string;
      labels: { severity: string };
      annotations: Record<string, string>;
    }[];
  }[];
}

const dashboard = JSON.parse(deployed("grafana/millrace.json")) as Dashboard;
const { rules } = (parse(deployed("prometheus/alerts.yml")) as Rules).groups[0]!;

/** The metrics that a query reads, with the labels that it selects by, and the labels that it groups by. */
function readBy(expr: string): { metrics: { name: string; labels: string[] }[]; grouped: string[] } {
  const text = expr.replace(/"[^"]*"/g, '""');
  const metrics = [...text.matchAll(/\b((?:millrace|nodejs|process)_\w+|up)\b(?:\{([^}]*)\})?/g)].map(
    ([, name, matchers = ""]) => ({
      name: name!,
      labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!),
    }),
  );
  const grouped = [...text.matchAll(/\b(?:by|without)\s*\(([^)]*)\)/g)].flatMap(([, list]) =>
    list!.split(",").map((label) => label.trim()),
  );
  return { metrics, grouped };
}

/** Labels that Prometheus adds. */
const TARGET_LABELS = ["job", "instance"];

function labelsOf(families: ReadonlyMap<string, MetricFamily>, name: string): string[] {
  // Prometheus itself provides this metric.
  if (name === "up") return TARGET_LABELS;
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ""));
  if (family === undefined) return [];
  const found = family.samples.filter((sample) => sample.name === name);
  // Nothing may have been collected yet (garbage, say); every metric has this label.
  return [...new Set([...found.flatMap(({ labels }) => Object.keys(labels)), "process", ...TARGET_LABELS])];
}

/** What a query asks for that there is not. */
function missingOf(families: ReadonlyMap<string, MetricFamily>, expr: string): string[] {
  const { metrics, grouped } = readBy(expr);
  const there = new Set(metrics.flatMap(({ name }) => labelsOf(families, name)));
  return [
    ...(metrics.length === 0 ? [`no metric in ${expr}`] : []),
    ...metrics.flatMap(({ name, labels }) => {
      const known = new Set(labelsOf(families, name));
      if (known.size === 0) return [name];
      return labels.filter((label) => !known.has(label)).map((label) => `${name}{${label}}`);
    }),
    ...grouped.filter((label) => !there.has(label)).map((label) => `by (${label}) in ${expr}`),
  ];
}

const queries = dashboard.panels.flatMap(({ targets = [] }) => targets);

describe("the dashboard", () => {
  it("queries only existing metrics and labels", async () => {
    const families = await readMetrics(exercisedMetrics());
    expect(queries.length).toBeGreaterThan(40);
    expect(
      queries.flatMap(({ expr }) => missingOf(families, expr.replaceAll("$__rate_interval", "5m"))),
    ).toEqual([]);
    const definitions = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);
    for (const definition of definitions)
      expect(families.has(readBy(definition).metrics[0]!.name)).toBe(true);
  });

  it("names its series by labels that remain after grouping", () => {
    for (const { expr, legendFormat } of queries) {
      const legendLabels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
      const { grouped, metrics } = readBy(expr);
      const available =
        grouped.length > 0 ? grouped : [...TARGET_LABELS, "process", ...metrics.flatMap((one) => one.labels)];
      expect(legendLabels.filter((label) => !available.includes(label))).toEqual([]);
    }
  });

  it("has a data source variable, a unit for every panel, and no overlapping panels", () => {
    expect(dashboard.templating.list[0]).toMatchObject({ name: "datasource", type: "datasource" });
    expect(queries.every(({ datasource }) => datasource.uid === "${datasource}")).toBe(true);
    const panels = dashboard.panels.filter(({ type }) => type !== "row");
    for (const { title, fieldConfig } of panels)
      expect([title, fieldConfig?.defaults.unit]).not.toContain(undefined);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    for (const [index, { gridPos: a }] of dashboard.panels.entries()) {
      expect(a.x + a.w).toBeLessThanOrEqual(24);
      for (const { gridPos: b } of dashboard.panels.slice(index + 1)) {
        const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
        expect(apart).toBe(true);
      }
    }
  });
});

describe("the alert rules", () => {
  it("query only existing metrics and labels", async () => {
    const families = await readMetrics(exercisedMetrics());
    expect(rules.flatMap(({ expr }) => missingOf(families, expr))).toEqual([]);
  });

  it("have a severity, a summary and a remedy each", () => {
    for (const { labels, annotations } of rules) {
      expect(["warning", "critical"]).toContain(labels.severity);
      expect(annotations).toMatchObject({ summary: expect.any(String), description: expect.any(String) });
    }
  });

  it("have a test case each", () => {
    const tests = deployed("prometheus/alerts.test.yml");
    for (const { alert } of rules) expect(tests).toContain(`alertname="${alert}"`);
  });
});

describe("the check for missing metrics", () => {
  it("finds a missing metric, a label of another metric, and an unknown grouping", async () => {
    const families = await readMetrics(exercisedMetrics());
    expect(missingOf(families, "rate(millrace_gone_total[5m])")).toEqual(["millrace_gone_total"]);
    expect(missingOf(families, 'millrace_runs_started_total{code="a,b"}')).toEqual([
      "millrace_runs_started_total{code}",
    ]);
    expect(missingOf(families, "sum by (le, model) (millrace_model_tokens_total)")).toEqual([
      "by (le) in sum by (le, model) (millrace_model_tokens_total)",
    ]);
  });
});
