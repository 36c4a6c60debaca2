/** Where the spans of a process go. */
import type { Logger } from "pino";
import type { Settings } from "../config/environment.ts";
import { noTracer, type Tracer } from "../core/tracer.ts";
import { VERSION } from "./build.ts";

/** Opens what the environment says that traces go to. Its owner closes it. */
export async function openTracer(
  { tracing }: Pick<Settings, "tracing">,
  process: string,
  log: Logger,
): Promise<Tracer> {
  if (!tracing.enabled) return noTracer(tracing.propagates);
  const { otlpTracer } = await import("../telemetry/tracing.ts");
  return otlpTracer(tracing, { version: VERSION, process, log });
}
