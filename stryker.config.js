import { mutationFolder } from "./test/mutation/folders.ts";

const { name, mutate } = mutationFolder();

/** Stryker changes one folder at a time: all of them together would take many hours. */
export default {
  testRunner: "vitest",
  tsconfigFile: "not-rewritten-because-typescript-7-has-no-javascript-interface",
  plugins: ["@stryker-mutator/vitest-runner"],
  // Which tests cover a line is known from a first run, so none has to be found by its imports.
  vitest: { configFile: "vitest.mutation.config.ts", related: false },
  mutate,
  // The tests check no types, and to parse every file takes longer than many runs of tests.
  disableTypeChecks: false,
  ignorePatterns: [".mutation"],
  mutator: { excludedMutations: ["StringLiteral"] },
  ignoreStatic: true,
  incremental: true,
  incrementalFile: `.mutation/${name}.json`,
  tempDirName: `.mutation/${name}`,
  concurrency: 2,
  timeoutMS: 10_000,
  timeoutFactor: 3,
  reporters: ["clear-text", "json"],
  jsonReporter: { fileName: `.mutation/${name}-report.json` },
  clearTextReporter: { logTests: false, allowColor: false },
  thresholds: { high: 90, low: 85, break: 85 },
  allowEmpty: false,
};
