/**
 * The program of a child process that runs queries on one embedded database. It has no environment, can read little of the
 * disk, and is killed if a query takes too long, so it needs no orderly shutdown.
 */
/* oxlint-disable no-restricted-globals -- this is the main file of a process of its own */
import { Worker } from "node:worker_threads";
import type { ChildFailure, ChildReply, ChildRequest, ChildSpec, EmbeddedEngine } from "./child-protocol.ts";

const spec = JSON.parse(process.argv[2]!) as ChildSpec;

// SQLite holds this thread while a query runs, so that the end of the parent would go unnoticed. The parent says who it
// is: by the time that anything here could ask, it may have ended already.
new Worker(
  `const { workerData: parent } = require("node:worker_threads");
   const look = () => { if (process.ppid !== parent) process.kill(process.pid, "SIGKILL"); };
   look();
   setInterval(look, 500);`,
  { eval: true, env: {}, workerData: spec.parent, resourceLimits: { maxOldGenerationSizeMb: 8 } },
).unref();
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));

/** Keeps U+FEFF at the beginning of a text. The library of DuckDB decodes each text with one that leaves it out. */
class ExactTextDecoder extends TextDecoder {
  constructor(label?: string, options?: ConstructorParameters<typeof TextDecoder>[1]) {
    super(label, { ignoreBOM: true, ...options });
  }
}

async function loadDuckdb(): Promise<EmbeddedEngine> {
  globalThis.TextDecoder = ExactTextDecoder;
  const { createDuckdbEngine } = await import("./child-duckdb.ts");
  return createDuckdbEngine(spec);
}

const loading: Promise<EmbeddedEngine> =
  spec.engine === "sqlite"
    ? import("./child-sqlite.ts").then((module) => module.createSqliteEngine(spec))
    : loadDuckdb();

process.on("message", (request: ChildRequest) => {
  void answer(request).then((reply) => process.send!(reply));
});

async function answer(request: ChildRequest): Promise<ChildReply> {
  const engine = await loading;
  try {
    if (request.op === "query") return { value: await engine.query(request) };
    if (request.op === "prepare") return { value: await engine.prepare(request) };
    return { value: await engine.describe(request.options) };
  } catch (error) {
    return { failure: (error as { failure?: ChildFailure }).failure ?? engine.toFailure(error) };
  }
}
