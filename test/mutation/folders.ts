/**
 * What `MUTATION_FOLDER=<folder> npm run test:mutation` changes, and the tests that must notice it: those of the folder, and
 * fast ones of its users. Tests that start processes or generate many cases are left out, because every change runs them.
 */
interface Folder {
  mutate: string[];
  tests: string[];
}

const FOLDERS: Readonly<Record<string, Folder>> = {
  queue: { mutate: ["src/queue/**/*.ts"], tests: ["test/queue/**"] },
  "run-state": {
    mutate: ["src/engine/run-state/**/*.ts"],
    tests: [
      "test/engine/run-state/**",
      "test/engine/executor/**",
      "test/tools/{approval-plans,decide-approval,schedules,trials}.test.ts",
      "test/surfaces/key-limits.test.ts",
    ],
  },
  executor: {
    mutate: ["src/engine/executor/**/*.ts"],
    tests: [
      "test/engine/executor/**",
      "test/engine/run-state/**",
      "test/tools/{decide-approval,trials}.test.ts",
      "test/queue/executors.test.ts",
    ],
  },
  store: {
    mutate: [
      "src/store/{approvals,claim-jobs,jobs,purge-runs,run-writer,schedules,step-writer,unit-of-work,usage,workflow-writer}.ts",
    ],
    tests: [
      "test/store/**",
      "test/queue/{executors,fair-claims,jobs,queue-metrics}.test.ts",
      "test/engine/run-state/{schedules,pinned-calls}.test.ts",
      "test/engine/executor/{child-runs,concurrency,events,fan-out,rates,repeat,reused-outputs,runs,undo,workflow-state}.test.ts",
      "test/tools/{approval-plans,decide-approval,move-workflow}.test.ts",
    ],
  },
  "rights-core": {
    mutate: [
      "src/core/{access,api-key-lifecycle,approval-assignment,approval-people,approval-rules,authored-work,authorship}.ts",
      "src/core/{event-url-mask,exposure,grant-hint,hidden-fields,mailbox,owner-access,recorded-operations}.ts",
      "src/core/{run-causes,scope-refusal,scoped-readers,unsaved-runs,usage-limits,values-grant,written-assignees}.ts",
    ],
    tests: [
      "test/core/{access,api-key-lifecycle,approval-assignment,approval-people,approval-rules,authored-work,authorship}.test.ts",
      "test/core/{event-url-mask,exposure,grant-hint,hidden-fields,mailbox,owner-access,recorded-operations}.test.ts",
      "test/core/{run-causes,scope-refusal,scoped-readers,unsaved-runs,usage-limits,values-grant,written-assignees}.test.ts",
    ],
  },
  "rights-tools": {
    mutate: [
      "src/engine/run-state/{key-limits,unsigned-approvals}.ts",
      "tools/approvals/{find-decidable,refusals,standing}.ts",
      "tools/reviews/{find-decidable,review-rule}.ts",
      "tools/triggers/may-run.ts",
      "tools/workflows/live-changes.ts",
    ],
    tests: [
      "test/engine/run-state/key-limits.test.ts",
      "test/surfaces/authorise.test.ts",
      "test/tools/{approval-refusals,live-changes,review-rule,standing}.test.ts",
    ],
  },
  auth: {
    mutate: ["src/auth/**/*.ts"],
    // Neither those of the routes: they start servers, and nearly every line of the folder would run them.
    tests: ["test/auth/**"],
  },
};

/**
 * Returns the folder of this run, the queue unless the environment names another. The test runner has a process of its own, so that the name is passed by the environment.
 * @throws Error for an unknown name
 */
export function mutationFolder(): Folder & { name: string } {
  const name = process.env["MUTATION_FOLDER"] ?? "queue";
  const folder = FOLDERS[name];
  if (folder !== undefined) return { name, ...folder };
  throw new Error(`MUTATION_FOLDER must be one of ${Object.keys(FOLDERS).join(", ")}`);
}
