/** Cursor (keyset) pagination: on request over REST, always over MCP. */
import { z } from "zod";

/** Maximum number of items on a page. */
export const MAX_PAGE = 200;

/** Where counting the items of a list stops: a list of a million takes longer to count than to read a page of. */
export const MAX_TOTAL = 10_000;
/** The same for a search, which compares texts. */
export const MAX_FOUND = 1_000;

export const Limit = z
  .int()
  .min(1)
  .max(MAX_PAGE)
  .meta({ description: `Maximum number of items, 1 to ${MAX_PAGE}.`, example: 50 });

export const Cursor = z.string().min(1).max(2_000).meta({
  description: "`next_cursor` of the previous page; same filters and sort.",
});

/** The output of a list: one page of items, the number of items on all pages (capped), and the cursor of the next page. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.strictObject({
    items: z.array(item),
    total: z.int().meta({
      description: "Number of items on all pages; counting stops at 10,000, in a search at 1,000.",
      example: 128,
    }),
    total_capped: z
      .literal(true)
      .optional()
      .meta({ description: "There are more than `total`; left out if it is exact.", example: true }),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: "Send it as `cursor` to get the next page; null on the last." }),
  });
}
