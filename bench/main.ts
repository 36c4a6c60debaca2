/**
 * `npm run bench [-- --quick] [-- --only <name>]`: measures Millrace against baselines of the same run. Missed goals do not fail it.
 * With `--check` it fails where the CPU time, divided by that of the baseline, is worse by a tenth than ratios.json says.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { backtests } from "./backtests.ts";
import { createWorkflow } from "./create-workflow.ts";
import { fairness } from "./fairness.ts";
import { growth } from "./growth.ts";
import { getWorkflow } from "./get-workflow.ts";
import { listWorkflows } from "./list-workflows.ts";
import { maintenance } from "./maintenance.ts";
import { passwordAttack } from "./password-attack.ts";
import { postgres } from "./postgres.ts";
import { runs } from "./runs.ts";
import { sseSessions } from "./sse-sessions.ts";
import { startUp } from "./start-up.ts";
import { type Bench, createSeed, type Result } from "./support/bench.ts";
import { startLoadGenerator } from "./support/rounds.ts";
import { resultTable, type Row } from "./support/table.ts";
import { toolsCall } from "./tools-call.ts";
import { webhooks } from "./webhooks.ts";

const BENCHES: Readonly<Record<string, (bench: Bench) => Promise<Result>>> = {
  "list-workflows": listWorkflows,
  "get-workflow": getWorkflow,
  "create-workflow": createWorkflow,
  "tools-call": toolsCall,
  runs,
  postgres,
  webhooks,
  backtests,
  "sse-sessions": sseSessions,
  "password-attack": passwordAttack,
  fairness,
  growth,
  maintenance,
  "start-up": startUp,
};

/** By how much a ratio can be worse. */
const TOLERANCE = 0.1;

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    check: { type: "boolean", default: false },
    // The benchmarks write here, so they measure its disk too.
    directory: { type: "string", default: tmpdir() },
  },
});
const { quick, only } = values;

const directory = mkdtempSync(join(values.directory, "millrace-bench-"));
const load = loadavg()[0]!;
const generator = await startLoadGenerator(join(directory, "generator.log"));
const rows: Row[] = [];
try {
  const seed = await createSeed(directory);
  const roundOptions = quick ? { rounds: 3, ms: 600 } : { rounds: 5, ms: 800 };
  console.log(`Node ${process.version} on ${cpus().length} × ${cpus()[0]?.model ?? "?"}, in ${directory}\n`);
  if (load > 0.5) {
    console.log(
      `The machine is busy (load ${load.toFixed(1)}): throughput and times are less accurate than CPU time.\n`,
    );
  }
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (only !== undefined && !only.includes(name)) continue;
    const result = await bench({ directory, generator, roundOptions, quick, seed });
    rows.push(...result.rows);
    console.log(`## ${name}\n\n${resultTable(result.rows)}\n`);
    if (result.details !== undefined) console.log(`${result.details}\n`);
  }
} finally {
  await generator.stop();
  rmSync(directory, { recursive: true, force: true });
}
const missed = rows.filter(({ goalMet }) => goalMet === false);
console.log(
  missed.length === 0 ? "Every goal was met." : `Missed: ${missed.map(({ label }) => label).join("; ")}.`,
);
if (values.check) {
  const worse = worseRatios(rows);
  console.log(worse.length === 0 ? "No ratio of ratios.json is worse." : `Worse: ${worse.join("; ")}.`);
  if (worse.length > 0) process.exitCode = 1;
}

/** The measured ratios that are worse than those of ratios.json by more than the spread of a quiet machine. */
function worseRatios(measured: readonly Row[]): string[] {
  const file = new URL("ratios.json", import.meta.url);
  const expected = JSON.parse(readFileSync(file, "utf8")) as Record<string, number>;
  return measured.flatMap(({ label, cpuRatio }) => {
    const before = expected[label];
    if (cpuRatio === undefined || before === undefined || cpuRatio >= before * (1 - TOLERANCE)) return [];
    return [`${label} (${cpuRatio.toFixed(2)}, was ${before})`];
  });
}
