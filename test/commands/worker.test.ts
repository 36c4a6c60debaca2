import { describe, expect, it } from "vitest";
import { testCli } from "../support/command-line.ts";

const GOOD = "name: Good\nsteps:\n  - { id: one, type: set, values: { a: 1 } }\n";

describe("millrace worker", () => {
  it("executes runs without a server, and exits with 0 on SIGTERM", async () => {
    const { begin, cli } = await testCli({ good: GOOD });
    const { child, ended, text } = await begin(["worker"], /worker started/);
    const { code, out, err } = await cli("run", "good");
    expect({ code, out: JSON.parse(out), err }).toEqual({ code: 0, out: { a: 1 }, err: "" });
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(text()).toContain("worker stopped");
  });
});
