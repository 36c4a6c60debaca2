/** A header by which the server carries a request out once, however often its button is pressed. */
import { useState } from "react";
import { once } from "../api/queries.ts";

/**
 * @returns what gives the header for a body: the same while the same is sent, as long as the form is open. Something
 *   else is another request, and the server refuses a key that it knows from another.
 */
export function useOnce(): (body: unknown) => ReturnType<typeof once> {
  const [keys] = useState(() => new Map<string, ReturnType<typeof once>>());
  return (body) => {
    const text = JSON.stringify(body);
    const key = keys.get(text) ?? once();
    keys.set(text, key);
    return key;
  };
}
