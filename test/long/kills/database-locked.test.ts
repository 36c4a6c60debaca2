import { describe, expect, it } from "vitest";
import { startUndisturbedTimer } from "../../support/cpu-time.ts";
import { apiClient } from "../../support/http.ts";
import { testInstance } from "../../support/instance.ts";
import { holdLock } from "../../support/lock.ts";
import { openEventStream, rawRequest } from "../../support/raw-http.ts";

const MODES = [
  ["write-ahead log", true],
  ["rollback journal", false],
] as const;

/** How the message names this process, where the system shows who holds a lock. */
const HOLDER = process.platform === "linux" ? ` (process ${process.pid})` : "";

async function open(local: boolean) {
  const instance = await testInstance({ local });
  const { value } = await instance.key();
  const [rest, mcp] = [await instance.rest(), await instance.mcp()];
  return { instance, rest, mcp, key: value, call: apiClient(rest.url, value) };
}

/** Polls /health; returns the slowest undisturbed response time and all statuses other than 200. */
function watchHealth(...urls: string[]) {
  let slowest = 0;
  const bad: unknown[] = [];
  const watching = new AbortController();
  const done = (async () => {
    while (!watching.signal.aborted) {
      for (const url of urls) {
        const elapsed = startUndisturbedTimer();
        const { status, text } = await rawRequest("GET", `${url}/health`);
        slowest = Math.max(slowest, elapsed());
        if (status !== 200) bad.push(text);
      }
    }
  })();
  return async () => {
    watching.abort();
    await done;
    return { slowest, bad };
  };
}

describe("a lock that another process holds", () => {
  it.each(MODES)(
    "makes writes wait 5 s, then refuses them with 503 and without effect, however many wait (%s)",
    async (_mode, local) => {
      const { instance, call, rest, mcp } = await open(local);
      const existing = (await call("POST", "/workflows", { name: "Kept", description: "" })).body;
      const release = holdLock(instance.stateDir, "immediate");
      const health = watchHealth(rest.url, mcp.url);
      const [start, undisturbed] = [performance.now(), startUndisturbedTimer()];
      const responses = await Promise.all(
        Array.from({ length: 60 }, (_, i) =>
          i % 2 === 0
            ? call(
                "POST",
                "/workflows",
                { name: `New ${i}`, description: "" },
                { "Idempotency-Key": `k${i}` },
              )
            : call("PATCH", `/workflows/${existing.id}`, { description: `${i}` }),
        ),
      );
      const [waited, counted] = [performance.now() - start, undisturbed()];
      for (const { status, body, headers } of responses) {
        expect({ status, code: body.code }).toEqual({ status: 503, code: "busy" });
        expect(body.detail).toContain(`the database lock${HOLDER}, and`);
        expect(headers.get("retry-after")).toBe("1");
        expect(headers.get("content-type")).toBe("application/problem+json");
      }
      expect(waited).toBeGreaterThan(4_900);
      expect(counted).toBeLessThan(7_000);

      const list = await call("GET", "/workflows");
      expect(list.body).toMatchObject([{ id: existing.id, version: 1 }]);
      const { slowest, bad } = await health();
      expect(bad).toEqual([]);
      expect(slowest).toBeLessThan(500);

      release();
      const again = await call(
        ...(["POST", "/workflows", { name: "New 0", description: "" }, { "Idempotency-Key": "k0" }] as const),
      );
      expect(again.status).toBe(201);
      expect((await call("GET", "/workflows")).body).toHaveLength(2);
    },
  );

  it("does not block readers of the write-ahead log", async () => {
    const { instance, call } = await open(true);
    holdLock(instance.stateDir, "exclusive");
    const start = performance.now();
    for (let i = 0; i < 50; i += 1) expect((await call("GET", "/workflows")).status).toBe(200);
    expect(performance.now() - start).toBeLessThan(15_000);
  });

  it("delays readers of a rollback journal without blocking the process", async () => {
    const { instance, call, rest, mcp, key } = await open(false);
    const stream = await openEventStream("GET", `${mcp.url}/sse`, { headers: { "X-API-Key": key } });
    await stream.waitFor(/event: endpoint/);
    const release = holdLock(instance.stateDir, "exclusive");
    const health = watchHealth(rest.url, mcp.url);
    const responses = await Promise.all(Array.from({ length: 100 }, () => call("GET", "/workflows")));
    for (const { status, body } of responses)
      expect({ status, code: body.code }).toEqual({ status: 503, code: "busy" });
    const { slowest, bad } = await health();
    expect(bad).toEqual([]);
    expect(slowest).toBeLessThan(500);

    // A request that waits for less than its limit succeeds.
    const served = call("GET", "/workflows");
    setTimeout(release, 500);
    expect((await served).status).toBe(200);
    expect(stream.ended()).toBe(false);
    expect((await call("POST", "/workflows", { name: "After", description: "" })).status).toBe(201);
  });
});
