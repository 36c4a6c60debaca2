import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { showComparison } from "../../src/commands/compare-runs.ts";
import { exportAll } from "../../src/commands/export.ts";
import { type Io, describeError } from "../../src/commands/io.ts";
import { listApiKeys } from "../../src/commands/keys.ts";
import { showOneRun, showRuns } from "../../src/commands/runs.ts";
import { listAllUsers } from "../../src/commands/users.ts";
import { exportWorkflows } from "../../src/commands/workflow-files.ts";
import { temporaryDirectory } from "../support/instance.ts";

const target = (): string => join(temporaryDirectory(), "target");

const READING: Record<string, (io: Io) => Promise<void>> = {
  export: (io) => exportAll(io, target(), {}),
  "keys list": (io) => listApiKeys(io, {}),
  "users list": (io) => listAllUsers(io, {}),
  runs: (io) => showRuns(io, { limit: 20 }),
  "runs compare": (io) => showComparison(io, "run_1", undefined, {}),
  "runs show": (io) => showOneRun(io, "run_1", {}),
  "workflows export": (io) => exportWorkflows(io, target()),
};

describe("a command that only reads", () => {
  it.each(Object.entries(READING))(
    "exits with 4 if there is no state, and creates none: %s",
    async (_, command) => {
      const stateDir = join(temporaryDirectory(), "state");
      const io: Io = {
        out: () => expect.fail("The command writes to standard output."),
        err: () => {},
        terminal: false,
        errTerminal: false,
        env: { MILLRACE_STATE_DIR: stateDir },
        onExit: () => {},
      };
      const { message, exitCode } = describeError(await command(io).catch((error: unknown) => error));
      expect(exitCode).toBe(4);
      expect(message).toMatch(/^There is no state in .* to .*\. Set MILLRACE_STATE_DIR/);
      expect(existsSync(stateDir)).toBe(false);
    },
  );
});
