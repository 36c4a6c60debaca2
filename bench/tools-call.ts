/** `tools/call` on stateless /mcp: the CPU time of HTTP, authentication and MCP, without that of the operation. */
import { once } from "node:events";
import { join } from "node:path";
import { type Bench, copyState, type Result, rawHttpRequest } from "./support/bench.ts";
import { startMillrace, startProgram } from "./support/program.ts";
import { roundsTable } from "./support/report.ts";
import { medianOverRounds, runRounds } from "./support/rounds.ts";
import { median, microseconds } from "./support/table.ts";

const GOAL_US = 500;

const message = (params: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });

export async function toolsCall({ directory, generator, roundOptions, quick, seed }: Bench): Promise<Result> {
  const stateDir = copyState(seed, directory, "call");
  const mcp = await startMillrace("mcp-sse", stateDir);
  const rest = await startMillrace("serve", stateDir);
  const operation = await startProgram(
    new URL("baselines/operation.ts", import.meta.url),
    [stateDir, seed.id],
    {
      log: join(directory, "operation.log"),
    },
  );

  const params = { name: "get_workflow", arguments: { workflow_id: seed.id } };
  const headers = { "X-API-Key": seed.key, Accept: "application/json, text/event-stream" };
  const modern = {
    ...params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  };
  const names = ["/mcp, 2026-07-28", "/mcp, 2025-11-25 without a session"] as const;
  const rounds = await runRounds(
    generator,
    [
      {
        name: names[0],
        program: mcp,
        request: rawHttpRequest(
          "POST",
          "/mcp",
          {
            ...headers,
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "get_workflow",
          },
          message(modern),
        ),
        status: 200,
      },
      {
        name: names[1],
        program: mcp,
        request: rawHttpRequest(
          "POST",
          "/mcp",
          { ...headers, "MCP-Protocol-Version": "2025-11-25" },
          message(params),
        ),
        status: 200,
      },
      {
        name: "REST, the same operation",
        program: rest,
        request: rawHttpRequest("GET", `/workflows/${seed.id}`, headers),
        status: 200,
      },
    ],
    // V8 needs some ten thousand calls until it has optimized the SDK.
    { ...roundOptions, warmUp: quick ? 4_000 : 8_000 },
  );
  const operationUs: number[] = [];
  for (let round = 0; round <= roundOptions.rounds; round += 1) {
    operation.child.send(roundOptions.ms);
    const [{ cpuUs }] = (await once(operation.child, "message")) as [{ cpuUs: number }];
    // The first round is the warm-up.
    if (round > 0) operationUs.push(cpuUs);
  }
  await Promise.all([mcp, rest, operation].map((program) => program.stop()));

  const baseline = median(operationUs);
  return {
    rows: names.map((name) => {
      const overhead = medianOverRounds(rounds, name, (it) => it.cpuUs) - baseline;
      return {
        label: `tools/call on ${name}: CPU overhead`,
        value: microseconds(overhead),
        baseline: `${microseconds(baseline)} operation`,
        goal: `< ${microseconds(GOAL_US)}`,
        goalMet: overhead < GOAL_US,
      };
    }),
    details: roundsTable(rounds),
  };
}
