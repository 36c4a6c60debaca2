import { describe, expect, it } from "vitest";
import { throttledLogger } from "../../src/telemetry/throttled-logger.ts";

function open() {
  let now = 0;
  const told: [object, string][] = [];
  const tell = throttledLogger(
    (line, message) => void told.push([line, message]),
    () => now,
  );
  return { told, tell, advance: (ms: number) => void (now += ms) };
}

describe("throttledLogger", () => {
  it("logs a message once a minute, whatever its numbers, with the number of repetitions", () => {
    const { told, tell, advance } = open();
    for (let n = 0; n < 100; n += 1) tell(`dropped ${n} spans`);
    advance(60_000);
    tell("dropped 7 spans");
    advance(60_000);
    tell("dropped 8 spans");
    expect(told).toEqual([
      [{}, "dropped 0 spans"],
      [{ repeated: 99 }, "dropped 7 spans"],
      [{}, "dropped 8 spans"],
    ]);
  });

  it("does not delay other messages", () => {
    const { told, tell } = open();
    tell("one");
    tell("another");
    expect(told).toHaveLength(2);
  });

  it("limits the length and the number of remembered messages", () => {
    const { told, tell } = open();
    const words = Array.from({ length: 50 }, (_, i) => `${"x".repeat(i)}y`);
    for (const word of words) tell(word);
    tell("z".repeat(10_000));
    expect(told.at(-1)![1]).toHaveLength(300);
    // The oldest is forgotten, so it counts as new.
    tell(words[0]!);
    expect(told).toHaveLength(52);
  });
});
