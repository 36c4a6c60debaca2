import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { fileClock } from "../../src/store/file-clock.ts";
import { temporaryDirectory } from "../support/instance.ts";

it.each([true, false])("shows the time of the file system, and leaves no file (local: %s)", async (local) => {
  const path = temporaryDirectory();
  const clock = fileClock({ path, local });
  onTestFinished(clock.close);
  for (let reading = 0; reading < 3; reading += 1) {
    const before = Date.now();
    const { at, resolutionMs } = await clock.read();
    expect(at).toBeGreaterThanOrEqual(before - resolutionMs);
    expect(at).toBeLessThanOrEqual(Date.now());
  }
  expect(readdirSync(path)).toEqual([]);
});

it("is opened again after a failure", async () => {
  const path = join(temporaryDirectory(), "missing");
  const clock = fileClock({ path, local: true });
  onTestFinished(clock.close);
  await expect(clock.read()).rejects.toThrow("ENOENT");
  const there = fileClock({ path: temporaryDirectory(), local: true });
  await there.read();
  await there.close();
  expect(await there.read()).toMatchObject({ at: expect.any(Number) as number });
  await there.close();
  rmSync(path, { recursive: true, force: true });
});
