/** The standard OTEL_* variables that decide whether traces are recorded; the OpenTelemetry SDK reads the others. */
import { NO_PROXIES, type OutgoingProxies } from "../core/outgoing-proxy.ts";
import type { TracingSettings } from "../core/tracer.ts";

type Env = Readonly<Record<string, string | undefined>>;

const PROTOCOL = "http/protobuf";

/**
 * Returns whether traces are recorded, and warnings about unsupported values.
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function readTracing(
  env: Env,
  proxies: OutgoingProxies = NO_PROXIES,
): { tracing: TracingSettings; warnings: string[] } {
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
  // The specification exports to localhost by default; Millrace sends nothing without configuration.
  const enabled = !disabled && (exporters.length === 0 ? endpoint : exporters.includes("otlp"));
  const propagators = listed("OTEL_PROPAGATORS");
  const propagates = propagators.length === 0 || propagators.includes("tracecontext");

  const warnings: string[] = [];
  const unknown = exporters.filter((name) => name !== "otlp" && name !== "none");
  if (!disabled && unknown.length > 0)
    warnings.push(`environment: OTEL_TRACES_EXPORTER must be otlp or none, got ${unknown.join(", ")}.`);
  const protocolName =
    value("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") === ""
      ? "OTEL_EXPORTER_OTLP_PROTOCOL"
      : "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL";
  const protocol = value(protocolName);
  if (enabled && protocol !== "" && protocol !== PROTOCOL)
    warnings.push(
      `environment: ${protocolName} is ${protocol}, but only ${PROTOCOL} is supported and will be used. ` +
        "Set the endpoint of the collector for this protocol (usually port 4318).",
    );
  const others = propagators.filter((name) => !["tracecontext", "baggage", "none"].includes(name));
  if (others.length > 0)
    warnings.push(`environment: OTEL_PROPAGATORS must be tracecontext or none, got ${others.join(", ")}.`);
  const destination = URL.parse(
    value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") || value("OTEL_EXPORTER_OTLP_ENDPOINT"),
  );
  const proxyUrl = destination === null ? undefined : proxies.proxyFor(destination)?.secretUrl;
  return { tracing: { enabled, propagates, proxyUrl }, warnings };
}
