/** Paging by cursor (keyset): on request over REST, always over MCP. */
import { z } from "zod";

/** As many items as one page can hold. */
export const MAX_PAGE = 200;

export const Limit = z
  .int()
  .min(1)
  .max(MAX_PAGE)
  .meta({ description: `At most so many items, 1 to ${MAX_PAGE}.`, example: 50 });

export const Cursor = z.string().min(1).max(2_000).meta({
  description: "Where to go on: `next_cursor` of the page before, with the same filters and sort.",
});

/** The output of a list: its items, how many there are in all, and where to go on. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.strictObject({
    items: z.array(item),
    total: z.int().meta({ description: "How many there are in all, on every page together.", example: 128 }),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: "Give it as `cursor` for the next page; null on the last." }),
  });
}
