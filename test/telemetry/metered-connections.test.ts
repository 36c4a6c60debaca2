import { describe, expect, it, vi } from "vitest";
import type { Connections, SqlRequest } from "../../src/core/connections.ts";
import { type Meter, noMeter } from "../../src/core/meter.ts";
import { StepError } from "../../src/core/step-errors.ts";
import { meteredConnections } from "../../src/telemetry/metered-connections.ts";

const USAGE = { input_tokens: 100, output_tokens: 20, cost: null };
const { signal } = new AbortController();

const list = (name: string) => () => [{ name, type: "x", unusable: null }];

/** Connections that answer, or fail as `thrown`, behind a meter that remembers. */
function metered(thrown?: unknown) {
  const answer = async <T>(value: T): Promise<T> => {
    if (thrown !== undefined) throw thrown;
    return value;
  };
  const connections = {
    databases: { list: list("sales"), query: () => answer({ rows: [] }) },
    models: { list: list("writer"), generate: () => answer({ text: "Hi", usage: USAGE }) },
    mcpServers: { list: list("tickets"), call: () => answer({}) },
  } as unknown as Connections;
  const meter = {
    ...noMeter,
    connection: vi.fn<Meter["connectionCalled"]>(),
    tokens: vi.fn<Meter["tokensUsed"]>(),
  };
  const calls = () => meter.connection.mock.calls.map(([{ kind, name, outcome }]) => [kind, name, outcome]);
  return { ...meteredConnections(connections, meter), meter, calls };
}

const query = (database: string): SqlRequest => ({ database }) as SqlRequest;

describe("metered connections", () => {
  it("tell who was asked, how it went and for how long", async () => {
    const it_ = metered();
    await it_.databases.query(query("sales"), signal);
    await it_.models.generate({ model: "writer", prompt: "Hi" }, signal);
    await it_.mcpServers.call("tickets", "list", {}, { idempotencyKey: "1", trace: {} }, signal);
    expect(it_.calls()).toEqual([
      ["database", "sales", "ok"],
      ["model", "writer", "ok"],
      ["mcp_server", "tickets", "ok"],
    ]);
    expect(it_.meter.connection.mock.calls[0]![0].seconds).toBeGreaterThanOrEqual(0);
    expect(it_.meter.tokens).toHaveBeenCalledExactlyOnceWith("writer", { input: 100, output: 20 });
  });

  it("tell the code of what failed, and pass it on", async () => {
    const error = new StepError("timeout", "It took too long.");
    const it_ = metered(error);
    await expect(it_.databases.query(query("sales"), signal)).rejects.toBe(error);
    const other = metered(new Error("a bug"));
    await expect(other.databases.query(query("sales"), signal)).rejects.toThrow("a bug");
    expect([...it_.calls(), ...other.calls()]).toEqual([
      ["database", "sales", "timeout"],
      ["database", "sales", "failed"],
    ]);
  });

  it("count the tokens of an answer that could not be used", async () => {
    const it_ = metered(new StepError("model_invalid_output", "It does not fit.", { usage: USAGE }));
    await expect(it_.models.generate({ model: "writer", prompt: "Hi" }, signal)).rejects.toThrow("fit");
    expect(it_.meter.tokens).toHaveBeenCalledExactlyOnceWith("writer", { input: 100, output: 20 });
  });

  it("have no label for a name that somebody made up", async () => {
    const it_ = metered();
    for (const name of ["made-up", "made-up-too", "scratch"]) await it_.databases.query(query(name), signal);
    expect(it_.calls().map(([, name]) => name)).toEqual(["unknown", "unknown", "scratch"]);
  });
});
