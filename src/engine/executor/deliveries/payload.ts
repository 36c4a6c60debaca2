/** What a delivery says: the event with names, links into the web interface, and values of the run where they are asked for. */
import { projectField } from "../../../../schemas/project.ts";
import type { EventRecord } from "../../../core/subscription-ports.ts";

/** The inputs and the output of a run, as JSON values. */
export interface RunValues {
  inputs: unknown;
  output: unknown;
  error: { message: string } | null;
}

export interface EventNames {
  /** The URL of the web interface, without a slash at its end. */
  base: string;
  /** The name of the event's workflow; null without one. */
  workflowName: string | null;
}

export interface EventPayload {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/** Maximum size of a payload, in bytes: of larger ones the values are left out. */
const MAX_PAYLOAD_BYTES = 256 * 1024;

/** The reason that a receiver gets; the subscription itself says more. */
const WITHHELD =
  "who set the URL of this subscription may not read them; an admin of the project confirms it";

/** @param values null where the subscription does not ask for them; `withheld` where who set its URL may not read them */
export function payloadOf(
  event: EventRecord,
  names: EventNames,
  values: RunValues | "withheld" | null,
): EventPayload {
  const data = {
    event_id: event.id,
    ...projectField(event.project),
    ...workflowField(event, names),
    ...factsOf(event, names),
  };
  const payload = { type: event.type, timestamp: event.at, data };
  if (values === null) return payload;
  if (values === "withheld") return { ...payload, data: { ...data, values: null, values_omitted: WITHHELD } };
  const withValues = { ...payload, data: { ...data, values } };
  return Buffer.byteLength(JSON.stringify(withValues)) <= MAX_PAYLOAD_BYTES
    ? withValues
    : {
        ...payload,
        data: { ...data, values: null, values_omitted: `larger than ${MAX_PAYLOAD_BYTES} bytes` },
      };
}

const workflowField = ({ workflowId: id }: EventRecord, { base, workflowName }: EventNames) =>
  id === null ? {} : { workflow: { id, name: workflowName ?? id, url: linkTo(base, "workflows", id) } };

function factsOf(event: EventRecord, { base }: EventNames): Record<string, unknown> {
  const { runId, data } = event;
  if (runId === null) return { ...data, ...(event.type === "key.expiring" && { url: `${base}/ui/keys` }) };
  if (event.type === "run.interrupted") {
    const { interruption_id: id, ...interruption } = data;
    const run = { id: runId, url: linkTo(base, "runs", runId) };
    return { run, interruption: { id, ...interruption } };
  }
  const { approval_id: approvalId, step_id: stepId, expires_at: expiresAt, ...run } = data;
  const shown = { run: { id: runId, ...run, url: linkTo(base, "runs", runId) } };
  if (typeof approvalId !== "string") return shown;
  const url = linkTo(base, "approvals", approvalId);
  return { ...shown, approval: { id: approvalId, step_id: stepId, expires_at: expiresAt, url } };
}

const linkTo = (base: string, page: string, id: string): string =>
  `${base}/ui/${page}/${encodeURIComponent(id)}`;
