/** A header by which the server carries a request out once, however often its button is pressed. */
import { useState } from "react";
import { idempotencyHeader } from "../api/queries.ts";

/**
 * @returns what gives the header for a body: the same while the same is sent, as long as the form is open. Something
 *   else is another request, and the server refuses a key that it knows from another.
 */
export function useIdempotencyHeader(): (body: unknown) => ReturnType<typeof idempotencyHeader> {
  const [keys] = useState(() => new Map<string, ReturnType<typeof idempotencyHeader>>());
  return (body) => {
    const text = JSON.stringify(body);
    const key = keys.get(text) ?? idempotencyHeader();
    keys.set(text, key);
    return key;
  };
}
