import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testCli } from "../support/command-line.ts";

/** A command line, and a function that writes a step to a file. */
async function open() {
  const made = await testCli({});
  return {
    ...made,
    file: (text: string): string => {
      const path = join(made.directory, "step.yaml");
      writeFileSync(path, text);
      return path;
    },
  };
}

describe("millrace run-step", () => {
  it("runs a step from a file, also with values of earlier runs, and lists it as a single step", async () => {
    const { cli, file } = await open();
    const first = await cli(
      "run-step",
      file("type: set\nvalues: { n: '${{ inputs.n * 2 }}' }\n"),
      "--input",
      "n=21",
      "--json",
    );
    expect(first.code).toBe(0);
    const { id, output } = JSON.parse(first.out) as { id: string; output: unknown };
    expect(output).toEqual({ n: 42 });
    const second = await cli(
      "run-step",
      file('{ "id": "again", "type": "set", "values": { "m": "${{ inputs.m + 1 }}" } }'),
      "--from",
      `m=${id}.n`,
    );
    expect({ code: second.code, out: JSON.parse(second.out) }).toEqual({ code: 0, out: { m: 43 } });
    const list = await cli("runs");
    expect(list.out).toContain("step again (set)");
    expect(list.out).toContain("step set (set)");
    const shown = await cli("runs", "show", id);
    expect(shown.out).toContain(`${id}  step set (set)  succeeded`);
  });

  it("runs a step with the digits of the file and of --input, and warns of what may be text", async () => {
    const { cli, file } = await open();
    const step = "type: set\nvalues: { id: 9007199254740993, phone: 01067, n: '${{ inputs.n }}' }\n";
    const { code, out, err } = await cli("run-step", file(step), "--input", "n=900719925474099.23");
    expect({ code, out: JSON.parse(out) }).toEqual({
      code: 0,
      out: { id: "9007199254740993", phone: 1067, n: "900719925474099.23" },
    });
    expect(err).toContain(
      'values.phone is read as the number 1067, not as the text 01067. Write "01067" in quotes',
    );
    const long = await cli("run-step", file("type: set\nvalues: { n: 1e4000 }\n"));
    expect([long.code, long.err]).toEqual([
      2,
      expect.stringContaining("2:14: values.n must be a number with"),
    ]);
  });

  it("says what is wrong with the file, the step or a source", async () => {
    const { cli, file } = await open();
    const list = await cli("run-step", file("- type: set\n"));
    expect([list.code, list.err]).toEqual([2, expect.stringContaining("must hold one step")]);
    const broken = await cli("run-step", file("{"));
    expect([broken.code, broken.err]).toEqual([2, expect.stringContaining("cannot be read as YAML")]);
    const source = await cli("run-step", file("type: set\nvalues: {}\n"), "--from", "rows");
    expect([source.code, source.err]).toEqual([2, expect.stringContaining("--from must be name=source")]);
    const wrong = await cli("run-step", file("type: sett\n"));
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining("step.type")]);
  });
});
