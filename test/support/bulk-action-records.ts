/** Bulk actions for tests of the store. */
import type { BulkActionRecord } from "../../src/core/bulk-action-ports.ts";

/** A running bulk action that retries runs of the workflow "test", to be inserted. */
export const newBulkAction = (id: string, fields: Partial<BulkActionRecord> = {}): BulkActionRecord => ({
  id,
  action: "retry",
  project: "default",
  workflowId: "test",
  version: null,
  rate: null,
  concurrency: 5,
  status: "running",
  total: 0,
  plan: { groups: [{ workflow_id: "test", version: 1, runs: 1 }], skipped: [], more: false },
  digest: "digest",
  reason: null,
  message: null,
  nextAt: "2026-11-21T08:00:00.000Z",
  actor: { owner: "ann@example.com", keyName: "ci", lineage: "key_1", surface: "mcp", client: "an agent" },
  keyLimits: null,
  createdAt: "2026-11-21T08:00:00.000Z",
  finishedAt: null,
  cancelledBy: null,
  ...fields,
});
