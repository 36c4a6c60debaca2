/** The standard OTEL_* variables, as far as they decide whether traces are made; the OpenTelemetry SDK reads the rest. */
import type { TracingSettings } from "../core/tracer.ts";

type Env = Readonly<Record<string, string | undefined>>;

const PROTOCOL = "http/protobuf";

/**
 * Whether traces are made, and what of the variables can't be followed.
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function readTracing(env: Env): { tracing: TracingSettings; warnings: string[] } {
  const value = (name: string): string => env[name]?.trim() ?? "";
  const listed = (name: string): string[] =>
    value(name)
      .split(",")
      .map((it) => it.trim())
      .filter((it) => it !== "");
  const disabled = value("OTEL_SDK_DISABLED").toLowerCase() === "true";
  const exporters = listed("OTEL_TRACES_EXPORTER");
  const endpoint =
    value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") !== "" || value("OTEL_EXPORTER_OTLP_ENDPOINT") !== "";
  // The specification exports to localhost unless told otherwise; here nothing is sent that nobody asked for.
  const enabled = !disabled && (exporters.length === 0 ? endpoint : exporters.includes("otlp"));
  const propagators = listed("OTEL_PROPAGATORS");
  const propagates = propagators.length === 0 || propagators.includes("tracecontext");

  const warnings: string[] = [];
  const strange = exporters.filter((it) => it !== "otlp" && it !== "none");
  if (!disabled && strange.length > 0)
    warnings.push(
      `environment: OTEL_TRACES_EXPORTER names ${strange.join(", ")}; only otlp and none are known.`,
    );
  const protocolName =
    value("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") === ""
      ? "OTEL_EXPORTER_OTLP_PROTOCOL"
      : "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL";
  const protocol = value(protocolName);
  if (enabled && protocol !== "" && protocol !== PROTOCOL)
    warnings.push(
      `environment: ${protocolName} is ${protocol}, but only ${PROTOCOL} is spoken, and is used. ` +
        "Give the endpoint of the collector that takes it (port 4318 as a rule).",
    );
  const others = propagators.filter((it) => !["tracecontext", "baggage", "none"].includes(it));
  if (others.length > 0)
    warnings.push(
      `environment: OTEL_PROPAGATORS names ${others.join(", ")}; only tracecontext and none are known.`,
    );
  return { tracing: { enabled, propagates }, warnings };
}
