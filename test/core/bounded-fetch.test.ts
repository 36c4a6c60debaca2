import { describe, expect, it } from "vitest";
import { boundedFetch, limitResponse } from "../../src/core/bounded-fetch.ts";

const tooLarge = (): Error => new Error("too large");

/** A response that sends three bytes at a time. */
function responseOf(chunks: number, sent: number[] = []): Response {
  let index = 0;
  return new Response(
    new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (index === chunks) return controller.close();
          sent.push(index);
          index += 1;
          controller.enqueue(new Uint8Array([1, 2, 3]));
        },
      },
      { highWaterMark: 0 },
    ),
    { status: 201, headers: { "x-a": "b" } },
  );
}

/** Never answers. */
const hanging: typeof fetch = (_, init) =>
  new Promise((_resolve, reject) => {
    const signal = init!.signal!;
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });

describe("a limited response", () => {
  it("has the status, the headers and the whole body if that is not larger than the maximum", async () => {
    const response = limitResponse(responseOf(2), { maxBytes: 6, tooLarge });
    expect([response.status, response.headers.get("x-a")]).toEqual([201, "b"]);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from([1, 2, 3, 1, 2, 3]));
  });

  it("stops reading a larger body, and fails with the given error", async () => {
    const sent: number[] = [];
    const response = limitResponse(responseOf(100, sent), { maxBytes: 5, tooLarge });
    await expect(response.arrayBuffer()).rejects.toThrow("too large");
    expect(sent.length).toBeLessThan(5);
  });

  it("keeps an empty body, also for a status that allows none", async () => {
    const empty = limitResponse(new Response(null, { status: 204 }), { maxBytes: 1, tooLarge });
    expect([empty.status, empty.body]).toEqual([204, null]);
  });

  it("compares what count returns, and calls onEnd after the end", async () => {
    const ended = Promise.withResolvers<void>();
    const limits = { maxBytes: 3, tooLarge, count: (chunk: Uint8Array) => chunk.byteLength };
    const response = limitResponse(responseOf(4), { ...limits, onEnd: ended.resolve });
    expect((await response.arrayBuffer()).byteLength).toBe(12);
    await ended.promise;
  });
});

describe("a bounded fetch", () => {
  it("fails with a TimeoutError after its time limit", async () => {
    const limits = { maxBytes: 1, tooLarge, timeoutMs: 10 };
    await expect(boundedFetch(hanging, "x", {}, limits)).rejects.toMatchObject({ name: "TimeoutError" });
  });

  it("ends with the caller's signal", async () => {
    const controller = new AbortController();
    const limits = { maxBytes: 1, tooLarge, timeoutMs: 60_000 };
    const fetched = boundedFetch(hanging, "x", { signal: controller.signal }, limits);
    controller.abort(new Error("stopped"));
    await expect(fetched).rejects.toThrow("stopped");
  });
});
