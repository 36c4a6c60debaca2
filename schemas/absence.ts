/** When a person is away, and who decides approvals in their place. */
import { z } from "zod";
import { timestamp } from "./text.ts";

export const Absence = z
  .strictObject({
    from: timestamp.nullable().meta({ description: "When it begins; null without an absence." }),
    until: timestamp.nullable().meta({ description: "From then on you are back." }),
    substitute: z
      .string()
      .nullable()
      .meta({ description: "Who decides in your place as well.", example: "ben@example.com" }),
    active: z.boolean().meta({ description: "Whether you are away now.", example: true }),
    stands_in_for: z.array(z.string()).meta({
      description: "For whom you decide now, also through others who are away.",
      example: ["cai@example.com"],
    }),
  })
  .meta({ id: "Absence", description: "When you are away, and who decides approvals in your place." });
export type Absence = z.infer<typeof Absence>;
