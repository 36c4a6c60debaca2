import { pino } from "pino";
import { fork } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { openInstance, openServices } from "../src/app.ts";
import { startExecutors } from "../src/commands/executors.ts";
import { Config } from "../schemas/config.ts";
import { readEnvironment } from "../src/config/environment.ts";
import { systemClock } from "../src/core/clock.ts";
const stateDir = mkdtempSync((process.env.TMPD ?? "/tmp") + "/try-");
process.env.MILLRACE_STATE_DIR = stateDir; process.env.MILLRACE_LOG_LEVEL = "warn";
const log = pino({ level: "warn" });
const instance = await openInstance(stateDir, systemClock, log);
const setup = { settings: readEnvironment({ MILLRACE_STATE_DIR: stateDir }), config: Config.parse({}), clock: systemClock };
const ex = startExecutors((args) => fork("bin/millrace.js", args, { stdio: ["ignore", "inherit", "inherit", "ipc"], execArgv: process.env.PROF ? ["--cpu-prof","--cpu-prof-dir=/tmp/prof"] : [] }), { count: 1, config: undefined, log }, async () => {});
const { services } = openServices(instance, setup, ex);
const actor = { principal: { keyId: "k", keyName: "k", owner: "operator", lineage: "k", scopes: new Set(["read","write","run"]) }, client: { surface: "rest", name: "t" } } as never;
const definition = { inputs: { type: "object", properties: { n: { type: "number", default: 3 } } }, steps: [
  { id: "a", type: "set", values: { x: "${{ inputs.n * 2 }}" } },
  { id: "b", type: "set", values: { y: "${{ steps.a.x + 1 }}" } },
  { id: "c", type: "set", values: { z: "${{ steps.b.y + 1 }}" } } ], output: "${{ steps.c.z }}" };
const wf = await instance.write({ operation: "t", actor, requestId: "r" }, (tx) => tx.workflows.insert({ name: "T", description: "", tags: [], definition }, { kind: "created", reason: null, actor }));
await new Promise((r) => setTimeout(r, 1500));
const never = new AbortController().signal;
async function one() {
  const t = performance.now();
  const prepared = await services.engine.prepareRun({ workflowId: wf.id, inputs: {}, trigger: "rest", actor: { owner: "o", keyName: "k", lineage: "k", surface: "rest", client: "t" } });
  await instance.write({ operation: "t", actor, requestId: "r" }, (tx) => services.engine.startRun(tx, prepared));
  services.engine.ring();
  for (;;) { const run = (await instance.read.runs.find(prepared.id))!; if (run.finishedAt) { if (run.status !== "succeeded") throw new Error(JSON.stringify(run.error)); break; }
    await services.engine.changed(run.id, run.seq, { ms: 5000, signal: never }); }
  return performance.now() - t;
}
for (let i = 0; i < 30; i++) await one();
const lat: number[] = []; for (let i = 0; i < 150; i++) lat.push(await one());
lat.sort((a, b) => a - b); console.log("sequential median", lat[75]!.toFixed(1), "p95", lat[142]!.toFixed(1));
for (const c of [8, 32]) { const t = performance.now(); let n = 0; const cpu = process.cpuUsage();
await Promise.all(Array.from({ length: c }, async () => { while (performance.now() - t < 4000) { await one(); n++; } }));
const e = performance.now() - t; const u = process.cpuUsage(cpu); console.log("conc", c, (n / e * 1000).toFixed(0), "runs/s", "listener cpu ms/run", ((u.user + u.system) / 1000 / n).toFixed(2)); }
// commit rate floor
const t2 = performance.now(); let k = 0; while (performance.now() - t2 < 1500) { await instance.store.transaction((trx) => trx.insertInto("settings").values({ name: "x" + k++, value: "y" }).execute()); }
console.log("commits/s", (k / 1.5).toFixed(0));
await ex.stop(); await instance.close(); process.exit(0);
