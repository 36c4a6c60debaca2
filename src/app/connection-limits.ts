/** How many connections a listener may hold: what the configuration says, as far as the process has file descriptors. */
import { readFileSync } from "node:fs";
import { report } from "node:process";
import type { Logger } from "pino";
import { addressMatcher, networkOf } from "../auth/network.ts";
import { throttledLogger } from "../core/throttled-logger.ts";
import type { ConnectionLimits } from "../surfaces/connection-limit.ts";
import type { Setup } from "./services.ts";

/** Descriptors that are left for everything else: the database, threads, executors, outgoing connections. */
const MIN_RESERVE = 128;
/** The part of all descriptors that is left, if it is more. */
const RESERVED_PART = 1 / 4;
/** Connections that a listener accepts even if nearly no descriptors are left. */
const MIN_CONNECTIONS = 16;

/** The number of file descriptors that this process may have open; undefined where the system does not say it. */
export function descriptorLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    if (soft !== undefined) return Number(soft);
  } catch {
    // Only Linux has this file.
  }
  // Looking up the names of all network addresses takes long. The types of Node do not know this option yet.
  Object.assign(report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as {
    userLimits?: { open_files?: { soft?: number | string } };
  };
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isFinite(soft) ? soft : undefined;
}

/** @param descriptors that the process may have open */
export const availableConnections = (descriptors: number): number =>
  Math.max(MIN_CONNECTIONS, descriptors - Math.max(MIN_RESERVE, Math.ceil(descriptors * RESERVED_PART)));

/** The limits of a listener. They are logged if there are fewer descriptors than the configuration needs. */
export function connectionLimits(
  { config, settings, descriptors = descriptorLimit() }: Setup,
  log: Logger,
): ConnectionLimits {
  const { connections, connections_per_address: perClient } = config.limits;
  const total = Math.min(connections, availableConnections(descriptors ?? Number.MAX_SAFE_INTEGER));
  if (total < connections)
    log.info({ connections: total, configured: connections, open_files: descriptors }, "connections limited");
  const isProxy = addressMatcher(settings.trustedProxies);
  const logClosed = throttledLogger((line, message) => log.warn(line, message));
  return {
    total,
    perClient,
    clientOf: (address) => (isProxy(address) ? undefined : networkOf(address)),
    onClosed: ({ client = "a trusted proxy", isNew }) =>
      logClosed(`${isNew ? "new" : "idle"} connection of ${client} closed, too many connections`),
  };
}
