/** Hides from the expressions of a caller the event URLs that answers hide: they could show them in another form. */
import { eventUrlMask, maskValue } from "../../src/core/event-url-mask.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** @returns what hides the event URLs in a value that a caller takes over; it returns the value itself where it hides none */
export function callerMask({ read, actor }: Pick<ToolContext, "read" | "actor">) {
  const mask = eventUrlMask(unscoped(read).runs, actor.principal.access);
  return <T>(value: T): Promise<T> => maskValue(value, mask);
}
