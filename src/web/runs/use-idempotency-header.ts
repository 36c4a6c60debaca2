import { useState } from "react";
import { idempotencyHeader } from "../api/queries.ts";

/**
 * Creates `Idempotency-Key` headers, so that pressing a button twice sends one request.
 * @returns a function that returns the same header for the same body while the component is mounted. A different body
 *   gets a different key, because the server rejects a key that was used with another body.
 */
export function useIdempotencyHeader(): (body: unknown) => ReturnType<typeof idempotencyHeader> {
  const [headers] = useState(() => new Map<string, ReturnType<typeof idempotencyHeader>>());
  return (body) => {
    const text = JSON.stringify(body);
    const header = headers.get(text) ?? idempotencyHeader();
    headers.set(text, header);
    return header;
  };
}
