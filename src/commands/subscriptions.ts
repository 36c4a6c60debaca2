/** `millrace subscriptions`: what is delivered to URLs when something happens, and the deliveries. */
import type { z } from "zod";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { Delivery, NewSubscription, Subscription } from "../../schemas/subscription.ts";
import { createSubscription } from "../../tools/subscriptions/create-subscription.ts";
import { deleteSubscription } from "../../tools/subscriptions/delete-subscription.ts";
import { listDeliveries } from "../../tools/subscriptions/list-deliveries.ts";
import { listSubscriptions } from "../../tools/subscriptions/list-subscriptions.ts";
import { redeliver } from "../../tools/subscriptions/redeliver.ts";
import { rotateSubscriptionSecret } from "../../tools/subscriptions/rotate-subscription-secret.ts";
import { testSubscription } from "../../tools/subscriptions/test-subscription.ts";
import { updateSubscription } from "../../tools/subscriptions/update-subscription.ts";
import { formatTimestamp } from "./columns.ts";
import type { Io } from "./io.ts";
import { namingOptions } from "./option-issues.ts";
import { withCaller } from "./with-caller.ts";
import { allOf, printJson, printTable } from "./project-output.ts";

type Created = z.infer<typeof NewSubscription>;

/** Number of deliveries that are shown. */
const SHOWN_DELIVERIES = 50;

export async function showSubscriptions(
  io: Io,
  { project, json }: { project?: string; json?: boolean },
): Promise<void> {
  const found = await withCaller(io, { requiresStateFor: "list the subscriptions of" }, (caller) =>
    allOf<Subscription>(caller, listSubscriptions, project === undefined ? {} : { project }),
  );
  if (json) return printJson(io, found);
  if (found.length === 0) return io.out("There are no subscriptions.\n");
  const several = found.some((one) => one.project !== undefined);
  printTable(
    io,
    ["ID", ...(several ? ["PROJECT"] : []), "NAME", "FORMAT", "TO", "EVENTS", "PENDING", "FAILED", "STATE"],
    found.map((one) => rowOf(one, several)),
  );
}

const rowOf = (one: Subscription, several: boolean): string[] => [
  one.id,
  ...(several ? [one.project ?? DEFAULT_PROJECT] : []),
  one.name,
  one.format,
  one.url ?? `secret ${one.url_secret}`,
  one.events.join(","),
  String(one.pending),
  String(one.failed),
  one.paused_at === null ? "active" : `paused: ${one.pause_reason ?? ""}`,
];

export interface SubscriptionOptions {
  name?: string;
  project?: string;
  format?: string;
  url?: string;
  urlSecret?: string;
  event?: string[];
  workflow?: string[];
  tag?: string[];
  includeValues?: boolean;
  pause?: boolean;
  resume?: boolean;
  config?: string;
}

/** The options of the fields that an issue can be about. */
const OPTIONS = {
  name: "--name",
  project: "--project",
  format: "--format",
  url: "--url",
  url_secret: "--url-secret",
  events: "--event",
  workflows: "--workflow",
  tags: "--tag",
};

const fieldsOf = ({ name, url, urlSecret, event, workflow, tag, includeValues }: SubscriptionOptions) => ({
  ...(name !== undefined && { name }),
  ...(url !== undefined && { url }),
  ...(urlSecret !== undefined && { url_secret: urlSecret }),
  ...(event !== undefined && { events: event }),
  ...(workflow !== undefined && { workflows: workflow }),
  ...(tag !== undefined && { tags: tag }),
  ...(includeValues !== undefined && { include_values: includeValues }),
});

/** Creates a subscription. Standard output holds nothing but the signing secret. */
export async function addSubscription(io: Io, options: SubscriptionOptions): Promise<void> {
  const { project, format, config } = options;
  const created = await namingOptions(OPTIONS, () =>
    withCaller(io, { config }, ({ call }) =>
      call<Created>(createSubscription, {
        ...fieldsOf(options),
        ...(project !== undefined && { project }),
        ...(format !== undefined && { format }),
      }),
    ),
  );
  io.err(`Created ${created.id} (${created.name}). Try it with: millrace subscriptions test ${created.id}\n`);
  printSecret(io, created);
}

function printSecret(io: Io, { secret }: Pick<Created, "secret">): void {
  if (secret === null) return;
  io.err("The signing secret, which is shown only now:\n");
  io.out(`${secret}\n`);
}

export async function changeSubscription(io: Io, id: string, options: SubscriptionOptions): Promise<void> {
  const { pause, resume, config } = options;
  const paused = pause === true ? true : resume === true ? false : undefined;
  const changed = await namingOptions(OPTIONS, () =>
    withCaller(io, { config }, ({ call }) =>
      call<Subscription>(updateSubscription, {
        subscription_id: id,
        ...fieldsOf(options),
        ...(paused !== undefined && { paused }),
      }),
    ),
  );
  io.out(`${changed.id} (${changed.name}) is ${changed.paused_at === null ? "active" : "paused"}.\n`);
}

export async function removeSubscription(io: Io, id: string): Promise<void> {
  const { name } = await withCaller(io, {}, ({ call }) =>
    call<Subscription>(deleteSubscription, { subscription_id: id }),
  );
  io.out(`Deleted ${id} (${name}).\n`);
}

export async function rotateSecret(io: Io, id: string, { overlap }: { overlap?: string }): Promise<void> {
  const rotated = await namingOptions({ overlap: "--overlap" }, () =>
    withCaller(io, {}, ({ call }) =>
      call<Created>(rotateSubscriptionSecret, {
        subscription_id: id,
        ...(overlap !== undefined && { overlap }),
      }),
    ),
  );
  const until = rotated.previous_secret_until;
  io.err(
    until === null
      ? "The secret before no longer signs.\n"
      : `The secret before signs too until ${formatTimestamp(until)} UTC.\n`,
  );
  printSecret(io, rotated);
}

export async function sendTest(io: Io, id: string): Promise<void> {
  const delivery = await withCaller(io, {}, ({ call }) =>
    call<Delivery>(testSubscription, { subscription_id: id }),
  );
  io.out(`${delivery.id} is delivered by the next executor. See: millrace subscriptions deliveries ${id}\n`);
}

export async function showDeliveries(
  io: Io,
  id: string | undefined,
  { state, json }: { state?: string; json?: boolean },
): Promise<void> {
  const { items } = await withCaller(io, { requiresStateFor: "list the deliveries of" }, ({ call }) =>
    call<{ items: Delivery[] }>(listDeliveries, {
      limit: SHOWN_DELIVERIES,
      ...(id !== undefined && { subscription_id: id }),
      ...(state !== undefined && { state }),
    }),
  );
  if (json) return printJson(io, items);
  if (items.length === 0) return io.out("There are no such deliveries.\n");
  printTable(
    io,
    ["ID", "CREATED", "EVENT", "ABOUT", "STATE", "ATTEMPTS", "STATUS", "NEXT", "ERROR"],
    items.map((one) => [
      one.id,
      formatTimestamp(one.created_at),
      one.event,
      one.run_id ?? one.workflow_id ?? "-",
      one.state,
      String(one.attempts),
      String(one.status ?? "-"),
      one.next_at === null ? "-" : formatTimestamp(one.next_at),
      one.error ?? "",
    ]),
  );
}

export async function deliverAgain(io: Io, id: string): Promise<void> {
  await withCaller(io, {}, ({ call }) => call<Delivery>(redeliver, { delivery_id: id }));
  io.out(`${id} is delivered again by the next executor.\n`);
}
