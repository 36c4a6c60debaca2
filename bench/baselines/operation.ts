/** The baseline of tools/call: the CPU time of `invoke` for get_workflow, without HTTP or MCP. */
import { pino } from "pino";
import { accessEverywhere } from "../../src/core/access.ts";
import { Config } from "../../schemas/config.ts";
import { openInstance } from "../../src/app/instance.ts";
import { openServices } from "../../src/app/services.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { systemClock } from "../../src/core/clock.ts";
import { newRequestId } from "../../src/core/ids.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import { getWorkflow } from "../../tools/workflows/get-workflow.ts";

const [stateDir, id] = process.argv.slice(2) as [string, string];
const log = pino({ base: { name: "bench" } }, pino.destination({ fd: 2, sync: false }));
const instance = await openInstance({ stateDir }, systemClock, log);
const settings = readEnvironment({ MILLRACE_STATE_DIR: stateDir });
const { services } = openServices(instance, { settings, config: Config.parse({}), clock: systemClock });
const principal = {
  kind: "key" as const,
  keyId: "key_bench",
  keyName: "bench",
  owner: "operator",
  lineage: "key_bench",
  scopes: new Set(["read"] as const),
  access: accessEverywhere(["read"] as const),
};

/** @returns the CPU time per call, in microseconds */
async function measure(ms: number): Promise<number> {
  const { signal } = new AbortController();
  const cpu = process.cpuUsage();
  const end = performance.now() + ms;
  let count = 0;
  for (; performance.now() < end; count += 1) {
    const actor = { principal, client: { surface: "mcp", name: "bench" } } as const;
    await invoke(services, getWorkflow, { workflow_id: id }, { actor, requestId: newRequestId(), signal });
    // Lets the log write, as between requests.
    if (count % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / count;
}

process.on("message", (ms: number) => void measure(ms).then((cpuUs) => process.send!({ cpuUs })));
process.send!({ port: 0 });
