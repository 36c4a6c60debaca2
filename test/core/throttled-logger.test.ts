import { describe, expect, it } from "vitest";
import { throttledLogger } from "../../src/core/throttled-logger.ts";

function open() {
  let now = 0;
  const logged: [object, string][] = [];
  const log = throttledLogger(
    (line, message) => void logged.push([line, message]),
    () => now,
  );
  return { logged, log, advance: (ms: number) => void (now += ms) };
}

describe("throttledLogger", () => {
  it("logs a message once a minute, whatever its numbers, with the number of repetitions", () => {
    const { logged, log, advance } = open();
    for (let n = 0; n < 100; n += 1) log(`dropped ${n} spans`);
    advance(60_000);
    log("dropped 7 spans");
    advance(60_000);
    log("dropped 8 spans");
    expect(logged).toEqual([
      [{}, "dropped 0 spans"],
      [{ repeated: 99 }, "dropped 7 spans"],
      [{}, "dropped 8 spans"],
    ]);
  });

  it("does not delay other messages", () => {
    const { logged, log } = open();
    log("one");
    log("another");
    expect(logged).toHaveLength(2);
  });

  it("limits the length and the number of remembered messages", () => {
    const { logged, log } = open();
    const words = Array.from({ length: 50 }, (_, i) => `${"x".repeat(i)}y`);
    for (const word of words) log(word);
    log("z".repeat(10_000));
    expect(logged.at(-1)![1]).toHaveLength(300);
    // The oldest message was dropped from memory, so it counts as new.
    log(words[0]!);
    expect(logged).toHaveLength(52);
  });
});
