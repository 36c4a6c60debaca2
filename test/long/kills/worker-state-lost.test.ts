import { once } from "node:events";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { testCli } from "../../support/command-line.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestExecutor } from "../../support/executor.ts";
import { testInstance } from "../../support/instance.ts";

const LIMIT_MS = 10_000;

/** A server that accepts requests and never responds. */
async function silentServer() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requested: once(server, "request"),
  };
}

describe("a worker whose state is lost", () => {
  it("logs the loss once, the recovery once, and the next loss again", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const lines: string[] = [];
    const log = pino({ base: null }, { write: (line) => void lines.push(String(JSON.parse(line).msg)) });
    const instance = await testInstance({ log });
    await startTestExecutor(instance);
    const file = join(instance.stateDir, "millrace.db");
    const logged = (count: number, message: RegExp) =>
      eventually(() => {
        // Schedules are checked twice per second, and a heartbeat is sent every 2.5 s.
        vi.advanceTimersByTime(500);
        return lines.filter((line) => message.test(line)).length >= count || undefined;
      }, `${message}, ${count} times`);
    const LOST =
      /^(.* poll failed|check of schedules failed|.* not handled|heartbeat not sent|jobs not claimed|stopped runs not checked)/;
    const BACK = /^storage available again$/;
    const lose = () => renameSync(file, `${file}.away`);
    const restore = () => renameSync(`${file}.away`, file);

    lose();
    await logged(1, LOST);
    for (let i = 0; i < 20; i += 1) {
      vi.advanceTimersByTime(500);
      await new Promise(setImmediate);
    }
    restore();
    await logged(1, BACK);
    lose();
    await logged(2, LOST);
    restore();
    await logged(2, BACK);
    expect(lines.filter((line) => LOST.test(line) || BACK.test(line))).toHaveLength(4);
  });

  it("ends quickly on SIGTERM while a step runs and its metrics port is open", async () => {
    const { address, requested } = await silentServer();
    const { stateDir, begin } = await testCli({
      long: `name: Long
steps:
  - { id: call, type: http, url: "http://${address}/", timeout: 5m }
`,
    });
    writeFileSync(join(stateDir, "config.yaml"), `http: { allowed_hosts: ["${address}"] }\n`);
    const { child, ended, text } = await begin(["worker", "--metrics-port", "0"], /worker started/);
    await begin(["run", "long"], /^/);
    await requested;
    rmSync(stateDir, { recursive: true });
    await eventually(
      () => /is gone from the state directory/.test(text()) || undefined,
      "the loss to be noticed",
    );
    const start = performance.now();
    child.kill("SIGTERM");
    expect(await ended).toBe(4);
    expect(performance.now() - start).toBeLessThan(LIMIT_MS);
  });
});
