/** Opens the tracer of a process. */
import type { Logger } from "pino";
import type { Settings } from "../config/environment.ts";
import { noTracer, type Tracer } from "../core/tracer.ts";
import { VERSION } from "./build.ts";

/** Opens a tracer that exports to the destination in the environment. The caller closes it. */
export async function openTracer(
  { tracing }: Pick<Settings, "tracing">,
  process: string,
  log: Logger,
): Promise<Tracer> {
  if (!tracing.enabled) return noTracer(tracing.propagates);
  const { otlpTracer } = await import("../telemetry/tracing.ts");
  return otlpTracer(tracing, { version: VERSION, process, log });
}
