/** Differences between two values, as the API returns them. */
import { z } from "zod";

export const Difference = z
  .strictObject({
    path: z
      .string()
      .meta({ description: "Where it is; empty for the whole value.", example: "rows[2].total" }),
    before: z.unknown().optional().meta({ description: "Left out where there was none.", example: 41 }),
    after: z.unknown().optional().meta({ description: "Left out where there is none now.", example: 42 }),
  })
  .meta({
    id: "Difference",
    description: "A field with two values. Long ones are cut and end with …",
  });
export type Difference = z.infer<typeof Difference>;
