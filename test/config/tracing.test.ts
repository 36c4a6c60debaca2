import { describe, expect, it } from "vitest";
import { readEnvironment } from "../../src/config/environment.ts";
import { readTracing } from "../../src/config/tracing.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

describe("the variables of OpenTelemetry", () => {
  it.each<[Record<string, string>, boolean]>([
    [{}, false],
    [{ OTEL_SERVICE_NAME: "millrace" }, false],
    [{ OTEL_TRACES_EXPORTER: "otlp" }, true],
    [{ OTEL_TRACES_EXPORTER: "none" }, false],
    [{ OTEL_TRACES_EXPORTER: "console" }, false],
    [ENDPOINT, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1/v1/traces" }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: " " }, false],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: "none" }, false],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: "TRUE" }, false],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: "false" }, true],
  ])("%o: traces are recorded: %s", (env, enabled) => {
    expect(readTracing(env).tracing).toEqual({ enabled, propagates: true });
  });

  it.each<[string, boolean]>([
    ["none", false],
    ["b3", false],
    ["baggage", false],
    ["tracecontext", true],
    ["tracecontext,baggage", true],
  ])("with OTEL_PROPAGATORS=%s contexts are propagated: %s", (propagators, propagates) => {
    expect(readTracing({ OTEL_PROPAGATORS: propagators }).tracing.propagates).toBe(propagates);
  });

  it("cause warnings for unsupported values only", () => {
    const { warnings } = readTracing({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      OTEL_TRACES_EXPORTER: "otlp,zipkin",
      OTEL_PROPAGATORS: "tracecontext,b3",
    });
    expect(warnings).toEqual([
      expect.stringMatching(/zipkin/),
      expect.stringMatching(/OTEL_EXPORTER_OTLP_PROTOCOL is grpc.*http\/protobuf/),
      expect.stringMatching(/b3/),
    ]);
    expect(readTracing({ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" }).warnings).toEqual([]);
    expect(readTracing({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }).warnings).toEqual([]);
  });

  it("prefer the protocol of traces to the general one", () => {
    const env = {
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf",
    };
    expect(readTracing(env).warnings).toEqual([]);
  });

  it("are read with the other variables", () => {
    const { tracing, warnings } = readEnvironment({ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" });
    expect(tracing.enabled).toBe(true);
    expect(warnings).toEqual([expect.stringContaining("grpc")]);
  });
});
