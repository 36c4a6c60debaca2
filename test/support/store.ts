/** A store without listeners, and helpers that write to it. */
import { onTestFinished } from "vitest";
import { accessEverywhere } from "../../src/core/access.ts";
import type { WorkflowWithDefinition, WorkflowStatus } from "../../schemas/workflow.ts";
import type { WriteIntent, Writers } from "../../src/core/ports.ts";
import type { Actor } from "../../src/core/principal.ts";
import type { WorkflowContent } from "../../src/core/workflow-ports.ts";
import { openStore, type SqliteStore } from "../../src/store/database.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import type { Schema } from "../../src/store/schema.ts";
import { openStateDirectory } from "../../src/store/state-directory.ts";
import { unitOfWork } from "../../src/store/unit-of-work.ts";
import { workflowReader } from "../../src/store/workflows.ts";
import { fakeClock } from "./clock.ts";
import { locationOf, newStateDirectory } from "./directories.ts";

export const testActor: Actor = {
  principal: {
    kind: "key",
    keyId: "key_1",
    keyName: "ci",
    owner: "operator",
    lineage: "key_1",
    scopes: new Set(["read", "write"]),
    access: accessEverywhere(["read", "write"]),
  },
  client: { surface: "rest", name: "vitest" },
};

export const JOURNAL_MODES = [
  ["write-ahead log", true],
  ["rollback journal", false],
] as const;

/**
 * Opens a store with a manual clock. Several stores on one directory behave like several processes.
 * @param local whether to treat the file system as local; otherwise the rollback journal is used
 */
export async function testStore({
  stateDir: existing,
  clock = fakeClock(),
  local = true,
}: { stateDir?: string; clock?: ReturnType<typeof fakeClock>; local?: boolean } = {}) {
  const stateDir = existing ?? (await newStateDirectory());
  const { database } = locationOf(stateDir);
  // Tests of what only SQLite has run on SQLite only.
  const store =
    database === undefined
      ? await openStore({ ...openStateDirectory(stateDir), local }, clock)
      : ((await openPostgresStore({ database, clock })) as Store as SqliteStore);
  onTestFinished(() => store.close());
  const unit = unitOfWork(store, clock);
  const read = workflowReader(store.read);

  const write = <T>(effect: (tx: Writers) => Promise<T>, intent: Partial<WriteIntent> = {}): Promise<T> =>
    unit({ operation: "test", actor: testActor, requestId: "req_1", ...intent }, effect);

  return {
    store,
    stateDir,
    clock,
    read,
    write,
    create: (content: Partial<WorkflowContent> = {}) => write((tx) => insertWorkflow(tx, content)),
    /** Creates the next version of `id` with some fields changed. */
    change: (
      id: string,
      fields: Partial<WorkflowContent & { status: WorkflowStatus }>,
      reason: string | null = null,
    ) =>
      write(async (tx) => {
        const current = (await tx.workflows.find(id))!;
        return tx.workflows.addVersion(
          current,
          { ...current, ...fields },
          { kind: "updated", reason, actor: testActor },
        );
      }),
    async rows(table: keyof Schema): Promise<number> {
      const { count } = await store.read
        .selectFrom(table)
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow();
      return count;
    },
  };
}

/** Creates a workflow inside a transaction. */
export const insertWorkflow = (
  { workflows }: Writers,
  content: Partial<WorkflowContent> = {},
  project?: string,
): Promise<WorkflowWithDefinition> =>
  workflows.insert(
    { name: "Weekly revenue", description: "", tags: [], definition: null, ...content },
    { kind: "created", reason: null, actor: testActor },
    { project },
  );
