import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

it("interrupts code only in executors: node:vm aborts a process that has no file descriptors left", () => {
  const users = globSync("{src,tools}/**/*.ts").filter((file) =>
    readFileSync(file, "utf8").includes("node:vm"),
  );
  expect(users).toEqual(["src/connections/models/run-with-timeout.ts"]);
});
