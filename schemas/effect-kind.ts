import { z } from "zod";

/** What a step does outside of its run. */
export const EffectKind = z
  .enum(["reads", "writes", "sends", "calls", "asks", "waits", "runs", "nothing"])
  .meta({
    description:
      "`calls`: a tool, which may read or write. `asks`: a person. `runs`: another workflow. `nothing`: works in memory.",
    example: "sends",
  });
export type EffectKind = z.infer<typeof EffectKind>;
