import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, constants, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findBarrier } from "../../src/core/file-access.ts";
import { temporaryDirectory } from "../support/instance.ts";

/** A user that the system does not know, as in containers with a random id. */
const STRANGER = 54_321;

/** The sentences about a path in a state directory, for that user. */
const sentencesFor = (path: string, stateDir: string, mode: number): string =>
  execFileSync(
    process.execPath,
    [
      "--input-type=module",
      "-e",
      `import { barrierSentences, findBarrier } from ${JSON.stringify(new URL("../../src/core/file-access.ts", import.meta.url).href)};
       const barrier = findBarrier(process.argv[1], ${mode});
       process.stdout.write(barrier === undefined ? "none" : barrierSentences(barrier, process.argv[2]));`,
      path,
      stateDir,
    ],
    { encoding: "utf8", uid: STRANGER, gid: STRANGER, cwd: "/" },
  );

describe("barrierSentences", () => {
  it("advise to change the mode of what belongs to the user, and else the owner", () => {
    const above = temporaryDirectory();
    chmodSync(above, 0o755);
    const stateDir = join(above, "state");
    const shop = join(stateDir, "shop.db");
    mkdirSync(stateDir);
    writeFileSync(shop, "", { mode: 0o600 });
    const sentences = (path: string): string => sentencesFor(path, stateDir, constants.R_OK | constants.W_OK);
    chmodSync(stateDir, 0o555);
    chownSync(stateDir, STRANGER, STRANGER);
    expect(sentences(stateDir)).toBe(
      `${stateDir} belongs to user ${STRANGER} (mode 0555), and this is user ${STRANGER}. Let its owner use it ` +
        `(chmod u+rwX ${stateDir}), or set MILLRACE_STATE_DIR to a directory that this user may read and write.`,
    );
    expect(sentences(join(stateDir, "new"))).toContain(`(chmod u+rwX ${stateDir})`);
    expect(sentences(shop)).toContain(
      `${shop} belongs to user 0 (mode 0600), and this is user ${STRANGER}. Give it to this user (chown -R ${STRANGER} ${stateDir})`,
    );
  });
});

describe("findBarrier", () => {
  it("finds none where something else than permissions is in the way", () => {
    const directory = temporaryDirectory();
    const at = (name: string): string => join(directory, name);
    symlinkSync("loop", at("loop"));
    symlinkSync("missing", at("dangling"));
    mkdirSync(at("real"));
    symlinkSync("real", at("link"));
    const paths = ["loop", "loop/state", "dangling", "link/state", "x".repeat(300)];
    const barriers = paths.map((path) => [path, findBarrier(at(path), constants.R_OK)]);
    expect(barriers).toEqual(paths.map((path) => [path, undefined]));
  });
});
