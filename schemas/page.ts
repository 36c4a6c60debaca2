/** Cursor (keyset) pagination: on request over REST, always over MCP. */
import { z } from "zod";

/** Maximum number of items on a page. */
export const MAX_PAGE = 200;

export const Limit = z
  .int()
  .min(1)
  .max(MAX_PAGE)
  .meta({ description: `Maximum number of items, 1 to ${MAX_PAGE}.`, example: 50 });

export const Cursor = z.string().min(1).max(2_000).meta({
  description: "`next_cursor` of the previous page, with the same filters and sort.",
});

/** The output of a list: one page of items, the number of items on all pages, and the cursor of the next page. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.strictObject({
    items: z.array(item),
    total: z.int().meta({ description: "Number of items on all pages.", example: 128 }),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: "Send it as `cursor` to get the next page; null on the last." }),
  });
}
