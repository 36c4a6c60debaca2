/** Collecting garbage, to show that nothing keeps what is no longer needed. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { eventually } from "./eventually.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Waits until nothing refers to the values any more. @throws Error after some seconds */
export const untilCollected = (refs: readonly WeakRef<object>[]): Promise<true> =>
  eventually(() => {
    collectGarbage();
    return refs.every((ref) => ref.deref() === undefined) ? true : undefined;
  }, "the collection of values");
