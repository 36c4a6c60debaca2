import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createConnectionMonitor } from "../../../src/web/api/connection-monitor.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A monitor whose probes are answered by the test. */
function open() {
  const probes: ((isUp: boolean) => void)[] = [];
  const page = { isVisible: true };
  const monitor = createConnectionMonitor({
    probe: () => new Promise((resolve) => probes.push(resolve)),
    isVisible: () => page.isVisible,
  });
  const statuses: string[] = [];
  monitor.subscribe(() => statuses.push(monitor.getState().status));
  const answer = async (isUp: boolean) => {
    probes.at(-1)!(isUp);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { monitor, probes, statuses, page, answer };
}

describe("createConnectionMonitor", () => {
  it("asks the server at once after a failed request, and says that it can't be reached if that fails too", async () => {
    const { monitor, probes, statuses, answer } = open();
    monitor.reportContact();
    vi.setSystemTime(1_060_000);
    monitor.reportFailure();
    monitor.reportFailure();
    expect(probes).toHaveLength(1);
    await answer(false);
    expect(statuses).toEqual(["suspected", "unreachable"]);
    expect(monitor.getState().lastContact).toBe(1_000_000);
  });

  it("takes one failed request for no outage if the server answers", async () => {
    const { monitor, statuses, answer } = open();
    monitor.reportFailure();
    await answer(true);
    expect(statuses).toEqual(["suspected", "reachable"]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(statuses).toHaveLength(2);
  });

  it("asks again after 2, 3, 5 and 5 s, until the server answers", async () => {
    const { monitor, probes, statuses, answer } = open();
    monitor.reportFailure();
    for (const [index, seconds] of [2, 3, 5, 5].entries()) {
      await answer(false);
      await vi.advanceTimersByTimeAsync(seconds * 1_000 - 1);
      expect(probes).toHaveLength(index + 1);
      await vi.advanceTimersByTimeAsync(1);
      expect(probes).toHaveLength(index + 2);
    }
    await answer(true);
    expect(statuses).toEqual(["suspected", "unreachable", "reachable"]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(probes).toHaveLength(5);
  });

  it("believes any answer, also one that comes before that of a probe", async () => {
    const { monitor, statuses, answer, probes } = open();
    monitor.reportFailure();
    await answer(false);
    await vi.advanceTimersByTimeAsync(2_000);
    monitor.reportContact();
    await answer(false);
    expect(statuses).toEqual(["suspected", "unreachable", "reachable"]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(probes).toHaveLength(2);
  });

  it("asks nothing for a hidden tab, and at once when it is asked to", async () => {
    const { monitor, probes, statuses, answer, page } = open();
    monitor.check();
    expect(probes).toHaveLength(0);
    page.isVisible = false;
    monitor.reportFailure();
    await answer(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(probes).toHaveLength(1);
    monitor.check();
    monitor.check();
    expect(probes).toHaveLength(2);
    await answer(true);
    expect(statuses).toEqual(["suspected", "unreachable", "reachable"]);
  });
});
