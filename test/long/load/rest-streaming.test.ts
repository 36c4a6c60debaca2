import { createHash } from "node:crypto";
import { get, type IncomingMessage } from "node:http";
import { Writable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { insertWorkflows } from "../../support/many-workflows.ts";
import { openRest } from "../../support/rest.ts";

const MB = 1024 * 1024;

/** Memory in use after garbage collection, in bytes: the heap, and buffers outside it. */
function inUse(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** An answer that is not read yet. */
const unread = (url: string, key: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { "X-API-Key": key }, agent: false }, resolve).once("error", reject);
  });

/** A long list, and the number of its pages that were read from the store. */
async function withLongList(count: number) {
  let log = "";
  const sink = new Writable({ write: (chunk, _encoding, done) => ((log += String(chunk)), done()) });
  const opened = await openRest({ log: pino({ level: "info" }, sink) });
  await insertWorkflows(opened.instance, { count, length: 2_000 });
  const { workflows } = opened.instance.services.read;
  const { page } = workflows;
  let pages = 0;
  workflows.page = (query) => {
    pages += 1;
    return page(query);
  };
  /** Waits until no more pages are read. */
  const stalled = async (): Promise<number> => {
    for (let before = -1; ;) {
      const now = pages;
      if (now > 0 && now === before) return now;
      before = now;
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  };
  return { ...opened, pages: () => pages, stalled, log: () => log };
}

describe("GET /workflows with 30,000 stored", () => {
  it("streams them all in bounded memory to a slow reader", async () => {
    const { url, key, stalled, pages } = await withLongList(30_000);
    const before = inUse();
    const answer = await unread(`${url}/workflows`, key);
    expect(answer.headers).toMatchObject({ "x-total-count": "10000", "x-total-count-capped": "true" });
    // While the client reads nothing, only a few pages are fetched.
    expect(await stalled()).toBeLessThan(30);

    const ids = createHash("sha256");
    let [bytes, count, rest, grown, looked] = [0, 0, "", 0, 0];
    for await (const chunk of answer) {
      bytes += (chunk as Buffer).byteLength;
      const text = rest + (chunk as Buffer).toString("latin1");
      let end = 0;
      for (const match of text.matchAll(/\{"id":"([^"]+)"/g)) {
        ids.update(match[1]!);
        count += 1;
        end = match.index + 1;
      }
      rest = text.slice(Math.max(end, text.length - 100));
      if (bytes - looked > 8 * MB) {
        looked = bytes;
        grown = Math.max(grown, inUse() - before);
      }
    }
    const all = Array.from({ length: 30_000 }, (_, i) => `many-${String(30_000 - i).padStart(6, "0")}`);
    expect(count).toBe(30_000);
    expect(ids.digest("hex")).toBe(createHash("sha256").update(all.join("")).digest("hex"));
    expect(rest).toMatch(/\}\]$/);
    expect(pages()).toBe(150);
    expect(bytes).toBeGreaterThan(60 * MB);
    expect(grown / MB).toBeLessThan(24);
  }, 60_000);

  it("stops when the client disconnects, and logs no error and no warning", async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => void warnings.push(warning);
    process.on("warning", warned);
    const { url, key, stalled, pages, log, call } = await withLongList(10_000);
    const answer = await unread(`${url}/workflows`, key);
    // Many small reads: after each the server waits again.
    let read = 0;
    await new Promise<void>((resolve) => {
      answer.on("data", (chunk: Buffer) => {
        read += chunk.byteLength;
        answer.pause();
        if (read > 8 * MB) resolve();
        else setImmediate(() => answer.resume());
      });
    });
    const fetched = await stalled();
    expect(fetched).toBeLessThan(50);
    answer.destroy();
    await eventually(() => (log().includes("list_workflows") ? true : undefined), "the log line");
    expect(pages()).toBeLessThanOrEqual(fetched + 1);
    expect((await call("GET", "/workflows?limit=1")).status).toBe(200);
    expect(log()).not.toMatch(/"level":(40|50|60)/);
    expect(warnings).toEqual([]);
    process.off("warning", warned);
  });

  it("aborts an answer that can't be completed, so that no client takes it for complete", async () => {
    const { instance, url, key, log } = await withLongList(2_000);
    const { workflows } = instance.services.read;
    const { page } = workflows;
    let left = 5;
    workflows.page = (query) => {
      left -= 1;
      return left < 0 ? Promise.reject(new Error("the disk has gone")) : page(query);
    };
    const answer = await unread(`${url}/workflows`, key);
    expect(answer.statusCode).toBe(200);
    const reading = (async () => {
      for await (const _ of answer);
    })();
    await expect(reading).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(log()).toContain("the disk has gone");
  });
});
