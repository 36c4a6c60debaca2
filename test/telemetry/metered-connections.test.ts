import { describe, expect, it, vi } from "vitest";
import type { ConfiguredConnections, SqlRequest } from "../../src/core/connections.ts";
import { type Meter, noMeter } from "../../src/core/meter.ts";
import { StepError } from "../../src/core/step-errors.ts";
import { meteredConnections } from "../../src/telemetry/metered-connections.ts";
import { callOf } from "../support/call-context.ts";

const USAGE = { input_tokens: 100, output_tokens: 20, cost: null };
const { signal } = new AbortController();

const list = (name: string) => () => [{ name, type: "x", unavailableReason: null }];

/** Metered connections that succeed, or throw `thrown`, with a meter that records its calls. */
function metered(thrown?: unknown) {
  const respond = async <T>(value: T): Promise<T> => {
    if (thrown !== undefined) throw thrown;
    return value;
  };
  const connections = {
    databases: { list: list("sales"), query: () => respond({ rows: [] }) },
    models: { list: list("writer"), generate: () => respond({ text: "Hi", usage: USAGE }) },
    mcpServers: { list: list("tickets"), call: () => respond({}) },
  } as unknown as ConfiguredConnections;
  const meter = {
    ...noMeter,
    connectionCalled: vi.fn<Meter["connectionCalled"]>(),
    tokensUsed: vi.fn<Meter["tokensUsed"]>(),
  };
  const calls = () =>
    meter.connectionCalled.mock.calls.map(([{ kind, name, outcome }]) => [kind, name, outcome]);
  return { ...meteredConnections(connections, meter), meter, calls };
}

const query = (database: string): SqlRequest => ({ database }) as SqlRequest;

describe("metered connections", () => {
  it("report the connection, the outcome and the duration of a call", async () => {
    const harness = metered();
    await harness.databases.query(query("sales"), callOf(signal));
    await harness.models.generate({ model: "writer", prompt: "Hi" }, callOf(signal));
    await harness.mcpServers.call("tickets", "list", {}, { idempotencyKey: "1", trace: {} }, callOf(signal));
    expect(harness.calls()).toEqual([
      ["database", "sales", "ok"],
      ["model", "writer", "ok"],
      ["mcp_server", "tickets", "ok"],
    ]);
    expect(harness.meter.connectionCalled.mock.calls[0]![0].seconds).toBeGreaterThanOrEqual(0);
    expect(harness.meter.tokensUsed).toHaveBeenCalledExactlyOnceWith("writer", { input: 100, output: 20 });
  });

  it("report the code of an error, and rethrow the error", async () => {
    const error = new StepError("timeout", "It took too long.");
    const harness = metered(error);
    await expect(harness.databases.query(query("sales"), callOf(signal))).rejects.toBe(error);
    const other = metered(new Error("a bug"));
    await expect(other.databases.query(query("sales"), callOf(signal))).rejects.toThrow("a bug");
    expect([...harness.calls(), ...other.calls()]).toEqual([
      ["database", "sales", "timeout"],
      ["database", "sales", "failed"],
    ]);
  });

  it("count the tokens of an unusable response", async () => {
    const harness = metered(new StepError("model_invalid_output", "It does not fit.", { usage: USAGE }));
    await expect(harness.models.generate({ model: "writer", prompt: "Hi" }, callOf(signal))).rejects.toThrow(
      "fit",
    );
    expect(harness.meter.tokensUsed).toHaveBeenCalledExactlyOnceWith("writer", { input: 100, output: 20 });
  });

  it("use one label for all names that are not configured", async () => {
    const harness = metered();
    for (const name of ["made-up", "made-up-too", "scratch"])
      await harness.databases.query(query(name), callOf(signal));
    expect(harness.calls().map(([, name]) => name)).toEqual(["unknown", "unknown", "scratch"]);
  });
});
