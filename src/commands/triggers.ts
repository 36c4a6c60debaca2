/** `millrace triggers`: shows the webhooks of a workflow, lists what they received, delivers again, and replaces URLs. */
import type { TriggerDelivery, TriggerState } from "../../schemas/trigger-delivery.ts";
import { getTriggers } from "../../tools/triggers/get-triggers.ts";
import { listTriggerDeliveries } from "../../tools/triggers/list-trigger-deliveries.ts";
import { redeliverTriggerDelivery } from "../../tools/triggers/redeliver-trigger-delivery.ts";
import { rotateTrigger } from "../../tools/triggers/rotate-trigger.ts";
import { alignColumns } from "./columns.ts";
import { type Io, paint } from "./io.ts";
import { withCaller } from "./with-caller.ts";

/** Shows the webhooks of the published version with their URLs. */
export async function showTriggers(io: Io, workflow: string, { json }: { json?: boolean }): Promise<void> {
  const { items } = await withCaller(io, { requiresStateFor: "show triggers of" }, ({ call }) =>
    call<{ items: TriggerState[] }>(getTriggers, { workflow_id: workflow }),
  );
  if (json) return io.out(`${JSON.stringify(items, null, 2)}\n`);
  if (items.length === 0)
    return io.out("Its published version has no triggers. Add triggers to its definition and publish it.\n");
  for (const { id, url, signature } of items)
    io.out(`${paint(io).bold(id)}  ${signature === null ? "not signed" : signature.scheme}\n  ${url}\n`);
}

/** Lists deliveries, newest first. */
export async function showDeliveries(
  io: Io,
  workflow: string,
  { limit, json }: { limit: number; json?: boolean },
): Promise<void> {
  const { items } = await withCaller(io, { requiresStateFor: "list deliveries of" }, ({ call }) =>
    call<{ items: TriggerDelivery[] }>(listTriggerDeliveries, { workflow_id: workflow, limit }),
  );
  if (json) return io.out(`${JSON.stringify(items, null, 2)}\n`);
  if (items.length === 0) return io.out("Its triggers have received nothing in the last 30 days.\n");
  const rows = items.map((item) => [
    item.id,
    item.received_at.slice(0, 19).replace("T", " "),
    item.trigger,
    outcomeOf(item),
    item.run_id ?? item.reason ?? "",
  ]);
  const line = alignColumns(rows);
  for (const row of rows) io.out(`${line(row)}\n`);
}

function outcomeOf({ status, repeats, redelivery_of: first }: TriggerDelivery): string {
  const again = first === null ? "" : `, redelivery of ${first}`;
  if (repeats === 0) return `${status}${again}`;
  return status === "refused" ? `refused, and ${repeats} more like it` : `${status}, repeated ${repeats}×`;
}

/** Delivers again what a trigger received. */
export async function redeliver(io: Io, workflow: string, delivery: string): Promise<void> {
  const { id } = await withCaller(io, {}, ({ call }) =>
    call<TriggerDelivery>(redeliverTriggerDelivery, { workflow_id: workflow, delivery_id: delivery }),
  );
  io.out(`Delivered again as ${id}. An executor starts its run.\n`);
}

/** Replaces the URL of a trigger. */
export async function rotate(io: Io, workflow: string, trigger: string): Promise<void> {
  const { url } = await withCaller(io, {}, ({ call }) =>
    call<TriggerState>(rotateTrigger, { workflow_id: workflow, trigger }),
  );
  io.out(`The old URL is refused from now on. The new one is\n${url}\n`);
}
