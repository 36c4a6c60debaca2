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
    // Text, or a list where the parameter is repeated.
    query: mapOf(nullable(ANY)),
    id: nullable(STRING),
    received_at: STRING,
  });

/** The shape of the body: by `payload`, else as in `sample`; any without both. */
export function bodyShape({
  payload,
  sample,
}: Readonly<Partial<Pick<Trigger, "payload" | "sample">>>): Shape {
  if (payload !== undefined) return shapeOfSchema(payload);
  return sample === undefined ? ANY : shapeOfSchema(schemaOfValue(sample.body));
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
