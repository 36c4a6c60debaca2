import { constants, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { describeBarrier } from "../../src/core/file-access.ts";
import { temporaryDirectory } from "../support/instance.ts";

describe("describeBarrier", () => {
  it("finds none where something else than permissions is in the way", () => {
    const directory = temporaryDirectory();
    const at = (name: string): string => join(directory, name);
    symlinkSync("loop", at("loop"));
    symlinkSync("missing", at("dangling"));
    mkdirSync(at("real"));
    symlinkSync("real", at("link"));
    const paths = ["loop", "loop/state", "dangling", "link/state", "x".repeat(300)];
    const barriers = paths.map((path) => [path, describeBarrier(at(path), constants.R_OK)]);
    expect(barriers).toEqual(paths.map((path) => [path, undefined]));
  });
});
