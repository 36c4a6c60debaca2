/** The rows of triggers and of what they have received. */
import type { TriggerDeliveryStatus } from "../../schemas/trigger-delivery.ts";

export interface TriggerRow {
  id: string;
  workflow_id: string;
  /** Its id in the definition. */
  name: string;
  /** The published version that has it; the last one, while it is removed. */
  version: number;
  /** 1 while no published version has it. Its URL returns with it. */
  removed: number;
  /** Counts how often its URL was replaced. */
  rotation: number;
  created_at: string;
  rotated_at: string | null;
  owner: string;
  key_name: string;
  lineage: string;
}

export interface TriggerDeliveryRow {
  id: string;
  trigger_id: string;
  workflow_id: string;
  received_at: string;
  status: TriggerDeliveryStatus;
  /** The id of the run that it starts, chosen when it was received. */
  run_id: string | null;
  /** The digest of what a repeated delivery has in common with this one; null where there is nothing. */
  key: string | null;
  /** The id that its sender gave it. */
  sender_id: string | null;
  /** Why it started no run. */
  code: string | null;
  reason: string | null;
  /** Its body, headers and query, as JSON; null for a refused one, and after some time. */
  event: string | null;
  /** Length of the body as it was received. */
  bytes: number;
  repeats: number;
  redelivery_of: string | null;
  /** Who delivered it again (`Redeliverer`), as JSON. */
  redelivered_by: string | null;
  /** 1 for a delivery with a valid signature, 0 for one to a trigger without; null where an older release received it. */
  signed: number | null;
  /** How often an executor began to handle it. */
  attempts: number;
  /** When an executor may handle it, or handle it again because the one before may have died; null once it has ended. */
  next_at: string | null;
  ended_at: string | null;
}
