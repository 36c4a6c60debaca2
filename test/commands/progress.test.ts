import { describe, expect, it } from "vitest";
import { showProgress } from "../../src/commands/progress.ts";

/** A standard error output, and a clock that is set by hand. */
function output(errTerminal: boolean) {
  let text = "";
  let time = 0;
  const io = {
    errTerminal,
    err: (more: string) => void (text += more),
    eraseLines: (lines: number) => void (text += `<${lines}>`),
  };
  return { io, now: () => time, advance: (ms: number) => void (time += ms), text: () => text };
}

describe("progress", () => {
  it("is a bar on a terminal, redrawn at most ten times a second, and removed at the end", () => {
    const { io, now, advance, text } = output(true);
    const progress = showProgress(io, "Copying", 200, now);
    progress.update(0);
    progress.update(50);
    advance(100);
    progress.update(100, "runs");
    progress.end();
    expect(text()).toBe(
      `Copying [${"-".repeat(30)}]   0 %\n<1>Copying [${"#".repeat(15)}${"-".repeat(15)}]  50 %, runs\n<1>`,
    );
  });

  it("is a line every 30 seconds elsewhere, so that short work prints none", () => {
    const { io, now, advance, text } = output(false);
    const progress = showProgress(io, "Copying", 3, now);
    progress.update(1);
    advance(30_000);
    progress.update(2, "steps");
    progress.update(3);
    progress.end();
    expect(text()).toBe("Copying: 66 %, steps\n");
  });

  it("never exceeds its ends", () => {
    const { io, now, advance, text } = output(true);
    const progress = showProgress(io, "Copying", 0, now);
    progress.update(0);
    advance(1_000);
    showProgress(io, "More", 10, now).update(12);
    expect(text().match(/\d+ %/g)).toEqual(["100 %", "100 %"]);
  });
});
