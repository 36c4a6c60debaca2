import { execFileSync } from "node:child_process";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { Config } from "../../schemas/config.ts";
import { availableConnections, connectionLimits, descriptorLimit } from "../../src/app/connection-limits.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { systemClock } from "../../src/core/clock.ts";

function open(limits: object, { descriptors = 1_024, proxies = "" } = {}) {
  let text = "";
  const log = pino({ level: "info" }, { write: (line: string) => void (text += line) });
  const settings = readEnvironment({ MILLRACE_STATE_DIR: "/tmp/none", MILLRACE_TRUSTED_PROXIES: proxies });
  const setup = { config: Config.parse({ limits }), settings, clock: systemClock, descriptors };
  return { ...connectionLimits(setup, log), log: () => text };
}

describe("the limits of a listener", () => {
  it("are those of the shell", () => {
    expect(descriptorLimit()).toBe(Number(execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" })));
  });

  it.each([
    [100, 16],
    [256, 128],
    [1_024, 768],
    [65_536, 49_152],
  ])("leave some of %i descriptors for everything else", (descriptors, connections) => {
    expect(availableConnections(descriptors)).toBe(connections);
  });

  it("are logged when there are fewer descriptors than the configuration needs", () => {
    const few = open({});
    expect(few.total).toBe(768);
    expect(JSON.parse(few.log())).toMatchObject({ connections: 768, configured: 10_000, open_files: 1_024 });
    const enough = open({ connections: 500, connections_per_address: 20 });
    expect([enough.total, enough.perClient, enough.log()]).toEqual([500, 20, ""]);
  });

  it("count a /64 of IPv6 as one client, IPv4 in IPv6 as IPv4, and no trusted proxy", () => {
    const { clientOf } = open({}, { proxies: "10.0.0.0/8" });
    expect(clientOf("2001:db8:1:2::3")).toBe(clientOf("2001:db8:1:2:9::1"));
    expect(clientOf("::ffff:192.0.2.1")).toBe("192.0.2.1");
    expect([clientOf("10.1.2.3"), clientOf("::ffff:10.1.2.3")]).toEqual([undefined, undefined]);
  });
});
