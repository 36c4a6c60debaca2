import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../support/documents.ts";
import { newStateDirectory } from "../support/directories.ts";
import { startProgram } from "../support/process.ts";

const FIGURES = JSON.parse(readFileSync(join(ROOT, "bench/counted.json"), "utf8")) as {
  files_loaded_at_the_start: Record<"serve" | "mcp-sse", number>;
};

/** Counts the files that a process loads, and says so at its end. */
const COUNTER = `data:text/javascript,${encodeURIComponent(`
  import module from "node:module";
  let count = 0;
  module.registerHooks({ load: (url, context, next) => ((count += Number(url.startsWith("file:"))), next(url, context)) });
  process.on("exit", () => process.stderr.write("files loaded: " + count + "\\n"));
`)}`;

describe("the files that a listener loads from its start until it has stopped", () => {
  it.each(["serve", "mcp-sse"] as const)(
    "number what bench/counted.json says, to a tenth (%s)",
    async (name) => {
      const program = await startProgram(name, await newStateDirectory(), {
        env: { NODE_OPTIONS: `--import=${COUNTER}` },
      });
      await program.stop();
      const count = Number(/files loaded: (\d+)/.exec(program.log())![1]);
      const expected = FIGURES.files_loaded_at_the_start[name];
      // Libraries change how many they consist of. Who changes it by more than a tenth says so in the file.
      expect({ count, isExpected: Math.abs(count - expected) <= expected / 10 }).toEqual({
        count,
        isExpected: true,
      });
    },
  );
});
