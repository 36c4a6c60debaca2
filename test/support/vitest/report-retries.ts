/** Lists the tests that passed only when they were repeated, at the end of a run: each of them is wrong. */
import type { Reporter, TestModule } from "vitest/node";

export const reportRetries: Reporter = {
  onTestRunEnd(modules: readonly TestModule[]) {
    const retried = modules.flatMap((module) =>
      [...module.children.allTests()]
        .filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
        .map((test) => `  ${module.relativeModuleId}: ${test.fullName}`),
    );
    if (retried.length > 0)
      console.log(`\nTests that were repeated (${retried.length}):\n${retried.join("\n")}`);
  },
};
