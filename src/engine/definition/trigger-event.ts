/** What the expressions of a trigger read as `event`. */
import type { Trigger } from "../../../schemas/trigger.ts";
import type { ReceivedEvent } from "../../core/event-path.ts";
import { schemaOfValue, shapeOfSchema } from "../../core/json-schema/index.ts";
import { ANY, mapOf, nullable, objectOf, type Shape, STRING } from "../../core/shapes.ts";
import { OTHER_FIELDS_NULL } from "./expressions/index.ts";

/** @param body the shape of its body */
export const eventShape = (body: Shape): Shape =>
  objectOf({
    body,
    headers: mapOf(nullable(STRING)),
    query: mapOf(nullable(STRING)),
    id: nullable(STRING),
    received_at: STRING,
  });

/** What `deduplicate` reads: not the time, which a repetition has not in common with the first. */
export const deduplicationShape = (body: Shape): Shape =>
  objectOf({
    body,
    headers: mapOf(nullable(STRING)),
    query: mapOf(nullable(STRING)),
    id: nullable(STRING),
  });

/** The shape of the body: by `payload`, else as in `sample`; any without both. */
export function bodyShape({
  payload,
  sample,
}: Readonly<Partial<Pick<Trigger, "payload" | "sample">>>): Shape {
  if (payload !== undefined) return shapeOfSchema(payload);
  return sample === undefined ? ANY : shapeOfSchema(schemaOfValue(sample.body));
}

/** The value of `event` in `deduplicate`. */
export function deduplicationValue(
  event: ReceivedEvent,
  id: string | null,
): Readonly<Record<string, unknown>> {
  const { received_at: _, ...value } = eventValue(event, { id, receivedAt: "" });
  return value;
}

/** The value of `event`. Headers and parameters that were not sent are null. */
export const eventValue = (
  { body, headers, query }: ReceivedEvent,
  { id, receivedAt }: { id: string | null; receivedAt: string },
): Readonly<Record<string, unknown>> => ({
  body,
  headers: { ...headers, [OTHER_FIELDS_NULL]: true },
  query: { ...query, [OTHER_FIELDS_NULL]: true },
  id,
  received_at: receivedAt,
});
