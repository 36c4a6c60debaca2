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

const mk = (d: object, name: string) => instance.write({ operation: "t", actor, requestId: "r" }, (tx) => tx.workflows.insert({ name, description: "", tags: [], definition: d as never }, { kind: "created", reason: null, actor }));
const f = await mk({ inputs: { type: "object", properties: { n: { type: "integer" } , list: {type:"array"}} }, steps: [{ id: "a", type: "set", for_each: "inputs.list", concurrency: 16, values: { x: "${{ item * 2 }}" } }], output: "${{ steps.a.items.map(i, i.x).sum() }}" }, "F");
for (const n of [1000, 5000, 10000]) {
  const t = performance.now();
  const prepared = await services.engine.prepareRun({ workflowId: f.id, inputs: { list: Array.from({ length: n }, (_, i) => i) }, trigger: "rest", actor: { owner: "o", keyName: "k", lineage: "k", surface: "rest", client: "t" } });
  await instance.write({ operation: "t", actor, requestId: "r" }, (tx) => services.engine.startRun(tx, prepared));
  services.engine.ring();
  for (;;) { const run = (await instance.read.runs.find(prepared.id))!; if (run.finishedAt) { console.log(n, run.status, run.error, await instance.read.runs.runOutput(run.id)); break; } await services.engine.changed(run.id, run.seq, { ms: 5000, signal: never }); }
  console.log(n, ((performance.now() - t)).toFixed(0), "ms", ((performance.now() - t) / n).toFixed(3), "ms/item");
}
for (let i = 0; i < 30; i++) await one();
let lat: number[] = []; for (let i = 0; i < 100; i++) lat.push(await one());
lat.sort((a, b) => a - b); console.log("before: median", lat[50]!.toFixed(2), lat[90]!.toFixed(2));
const w = await mk({ steps: [{ id: "a", type: "wait", for: "1d" }] }, "W");
let t = performance.now();
for (let i = 0; i < 10000; i += 50) { await Promise.all(Array.from({ length: 50 }, async () => { const prepared = await services.engine.prepareRun({ workflowId: w.id, inputs: {}, trigger: "rest", actor: { owner: "o", keyName: "k", lineage: "k", surface: "rest", client: "t" } });
  await instance.write({ operation: "t", actor, requestId: "r" }, (tx) => services.engine.startRun(tx, prepared)); services.engine.ring(); })); }
while ((await instance.read.jobs.depth()).ready > 0) await new Promise((r) => setTimeout(r, 50));
console.log("10k waits started", (performance.now() - t).toFixed(0), await instance.read.jobs.depth());
await new Promise((r) => setTimeout(r, 2000));
import { readFileSync } from "node:fs"; import { execSync } from "node:child_process";
const pid = execSync("pgrep -f 'worker --id'").toString().trim().split("\n").at(0)!;
const ticks = () => { const p = readFileSync(`/proc/${pid}/stat`, "utf8").split(" "); return Number(p[13]) + Number(p[14]); };
const t0 = ticks(); await new Promise((r) => setTimeout(r, 10000)); console.log("worker cpu % while 10k wait", (ticks() - t0) / 10, readFileSync(`/proc/${pid}/status`,"utf8").match(/VmRSS.*/)![0]);
lat = []; for (let i = 0; i < 100; i++) lat.push(await one());
lat.sort((a, b) => a - b); console.log("after: median", lat[50]!.toFixed(2), lat[90]!.toFixed(2));
// commit rate floor
const t2 = performance.now(); let k = 0; while (performance.now() - t2 < 1500) { await instance.store.transaction((trx) => trx.insertInto("settings").values({ name: "x" + k++, value: "y" }).execute()); }
console.log("commits/s", (k / 1.5).toFixed(0));
await ex.stop(); await instance.close(); process.exit(0);
