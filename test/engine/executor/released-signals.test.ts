/** An abort signal made of others is kept by Node until it is aborted or has no listener: for ever, if one is left behind. */
import { expect, it } from "vitest";
import { runToEnd, testEngine } from "../../support/engine.ts";
import { untilCollected } from "../../support/garbage.ts";

it("nothing of an attempt is kept after its end, whether it succeeds or fails", async () => {
  const harness = await testEngine();
  const signals: WeakRef<AbortSignal>[] = [];
  harness.onProbe(async (ask, { signal }) => {
    signals.push(new WeakRef(signal));
    if (ask === "fail") throw new Error("as asked");
  });
  for (const ask of ["succeed", "fail"])
    await runToEnd(harness, { steps: [{ id: "a", type: "probe", ask }] });
  expect(signals).toHaveLength(2);
  expect(await untilCollected(signals)).toBe(true);
});
