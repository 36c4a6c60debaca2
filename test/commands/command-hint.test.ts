import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { commandHint } from "../../src/commands/command-hint.ts";

it("commandHint names no state directory where every command finds it", () => {
  expect(commandHint({ stateDir: "/root/.millrace", isDefaultStateDir: true }, "keys list")).toBe(
    "npx millrace keys list",
  );
});

it.each(["/srv/millrace", "/srv/my data", '/srv/it\'s $HOME `id`; "x" \\', "/srv/週間"])(
  "commandHint names a state directory as a shell reads it: %s",
  (stateDir) => {
    const hint = commandHint({ stateDir, isDefaultStateDir: false }, "users setup-link");
    expect(hint).toMatch(/ npx millrace users setup-link$/);
    const shown = hint.replace("npx millrace users setup-link", `sh -c 'printf %s "$MILLRACE_STATE_DIR"'`);
    expect(execFileSync("/bin/sh", ["-c", shown], { encoding: "utf8" })).toBe(stateDir);
  },
);

it("commandHint names a relative state directory in full, for another working directory", () => {
  expect(commandHint({ stateDir: "state", isDefaultStateDir: false }, "keys list")).toBe(
    `MILLRACE_STATE_DIR=${process.cwd()}/state npx millrace keys list`,
  );
});
