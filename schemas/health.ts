import { z } from "zod";

export const Health = z
  .strictObject({
    status: z.enum(["ok", "draining", "unavailable"]).meta({ example: "ok" }),
    version: z.string().meta({ description: "The running version.", example: "0.1.0" }),
    detail: z.string().optional().meta({ description: "Why the process is not healthy." }),
  })
  .meta({ id: "Health", description: "Whether this process can serve requests." });
export type Health = z.infer<typeof Health>;
