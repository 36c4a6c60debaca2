/** The shipped Prometheus configuration and the served metrics, checked by promtool. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { temporaryDirectory, testInstance } from "../../support/instance.ts";
import { exercisedMetrics } from "../../support/metrics.ts";
import { startProgram } from "../../support/process.ts";
import { renderExposition } from "../../../src/telemetry/metrics-snapshot.ts";

const DEPLOYED = fileURLToPath(new URL("../../../deploy/prometheus/", import.meta.url));

function promtool(args: readonly string[], input = ""): { status: number | null; said: string } {
  const { status, stdout, stderr, error } = spawnSync("promtool", args, {
    cwd: DEPLOYED,
    encoding: "utf8",
    input,
  });
  if (error !== undefined) throw error;
  return { status, said: stdout + stderr };
}

describe("promtool", () => {
  it("accepts the metrics at the start and after every kind of event", async () => {
    const { stateDir } = await testInstance();
    const program = await startProgram("serve", stateDir, { args: ["--metrics-port", "0"] });
    const page = /metrics available at (http:\/\/[^"]+)/.exec(program.log())![1]!;
    const served = await (await fetch(page)).text();
    expect(promtool(["check", "metrics"], served)).toEqual({ status: 0, said: "" });
    const whole = await renderExposition([await exercisedMetrics().snapshot()]);
    expect(promtool(["check", "metrics"], whole)).toEqual({ status: 0, said: "" });
    // promtool does check the text.
    const wrong = "# HELP a_total A.\n# TYPE a_total gauge\na_total 1\n";
    expect(promtool(["check", "metrics"], wrong).status).not.toBe(0);
  });

  it("accepts the configuration and the rules, and the rules pass their tests", () => {
    const config = promtool(["check", "config", "prometheus.yml"]);
    expect(config).toMatchObject({ status: 0, said: expect.stringContaining("valid prometheus config") });
    expect(promtool(["check", "rules", "alerts.yml"])).toMatchObject({ status: 0 });
    expect(promtool(["test", "rules", "alerts.test.yml"])).toMatchObject({
      status: 0,
      said: expect.stringContaining("SUCCESS"),
    });
  });

  it("parses every query of the dashboard", () => {
    const dashboard = JSON.parse(
      readFileSync(new URL("../../../deploy/grafana/millrace.json", import.meta.url), "utf8"),
    ) as { panels: { title: string; targets?: { expr: string }[] }[] };
    const rules = dashboard.panels.flatMap(({ targets = [] }) =>
      targets.map(({ expr }) => ({
        record: "panel",
        expr: expr
          .replaceAll("$__rate_interval", "5m")
          .replaceAll("$job", ".*")
          .replaceAll("$instance", ".*"),
      })),
    );
    const groups = rules.map((rule, index) => ({ name: `panel ${index}`, rules: [rule] }));
    const file = join(temporaryDirectory(), "panels.yml");
    writeFileSync(file, stringify({ groups }));
    const checked = promtool(["check", "rules", "--lint=none", file]);
    expect(checked).toMatchObject({
      status: 0,
      said: expect.stringContaining(`${rules.length} rules found`),
    });
  });
});
