/** When a step is tried again, and when its output is reused. */
import { z } from "zod";
import { Duration } from "./field-values.ts";

export const Retry = z
  .strictObject({
    attempts: z.int().min(2).max(20).meta({
      description: "Maximum number of attempts, the first one included.",
      example: 4,
    }),
    backoff: z.enum(["fixed", "exponential"]).default("exponential").meta({
      description:
        "Whether the pause stays the same or doubles. A random part of up to half is subtracted; a Retry-After of the response is waited for at least.",
      example: "exponential",
    }),
    initial: Duration.default("1s").meta({ description: "The first pause.", example: "2s" }),
    max: Duration.default("5m").meta({ description: "The longest pause.", example: "1m" }),
    on: z
      .array(z.string())
      .min(1)
      .max(50)
      .optional()
      .meta({
        description:
          "Error codes to retry. Default: temporary errors (of http_status those with 408, 425, 429 and 5xx).",
        example: ["http_status", "timeout"],
      }),
  })
  .meta({
    id: "Retry",
    description: "When and how often a failed attempt is retried.",
    example: { attempts: 4, backoff: "exponential", initial: "2s" },
  });
export type Retry = z.output<typeof Retry>;

export const Cache = z
  .union([
    Duration,
    z.strictObject({
      for: Duration,
      despite_effects: z.literal(true).optional().meta({
        description: "Required on a step with effects: they do not happen while its output is reused.",
        example: true,
      }),
    }),
  ])
  .meta({
    id: "Cache",
    description:
      "How long the output is reused while the step, its input and the configuration of what it calls are unchanged. On a step with effects: { for, despite_effects: true }.",
    example: "1h",
  });
