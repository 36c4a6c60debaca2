/** The triggers of a workflow: what starts its runs from outside, besides callers and the clock. */
import { z } from "zod";
import { Cel, JsonSchemaObject } from "./field-values.ts";
import { SecretName, Signature } from "./signature.ts";
import { text } from "./text.ts";

const TRIGGER_ID = /^[a-z][a-z0-9_]{0,63}$/;

const Sample = z
  .strictObject({
    headers: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: "Its headers.", example: { "x-github-event": "push" } }),
    body: z.unknown().meta({ description: "Its body.", example: { ref: "refs/heads/main" } }),
  })
  .meta({
    id: "SampleDelivery",
    description: "A delivery as it was recorded.",
    example: { body: { ref: "refs/heads/main" } },
  });

const Handshake = z
  .strictObject({
    type: z
      .enum(["zoom", "twitch", "meta", "dropbox", "microsoft_graph", "cloudevents", "x", "asana", "get"])
      .meta({
        description:
          "What the sender does. get: a GET that must get 200, as Mailchimp sends. Slack's is answered without it, and so is HEAD.",
        example: "microsoft_graph",
      }),
    verify_token: SecretName.optional().meta({
      description: "With meta: the name of the secret that is entered there as the verify token.",
      example: "meta-verify-token",
    }),
  })
  .meta({
    id: "Handshake",
    description: "How the sender checks the URL before its first delivery.",
    example: { type: "microsoft_graph" },
  });
export const Trigger = z
  .strictObject({
    id: z
      .string()
      .regex(TRIGGER_ID, {
        error: "must be a lower-case letter followed by up to 63 lower-case letters, digits or _",
      })
      .meta({
        description: "The name of the trigger in this workflow. Its URL stays the same over versions.",
        example: "pushed",
      }),
    type: z.literal("webhook").meta({ description: "What it is: a webhook.", example: "webhook" }),
    description: text(2_000)
      .optional()
      .meta({ description: "What sends it.", example: "Pushes to the repository." }),
    signature: Signature.optional(),
    handshake: Handshake.optional(),
    answer_status: z
      .union([z.literal(200), z.literal(202)])
      .optional()
      .meta({
        description:
          "The status of the answer once a delivery is recorded. Default: 202, which some senders (Linear, Zoom, Mailgun) take for a failure: write 200 for them.",
        example: 200,
      }),
    payload: JsonSchemaObject.optional().meta({
      description:
        "A JSON Schema of the body. A delivery with another body starts no run. Expressions know the fields by it. A field of a form that it declares as a list is one also if it was sent once.",
      example: { type: "object", properties: { ref: { type: "string" } }, required: ["ref"] },
    }),
    sample: Sample.optional().meta({
      description:
        "Instead of payload: a delivery as it was recorded, by which expressions know the fields of the body. Other bodies are accepted.",
      example: { body: { ref: "refs/heads/main" } },
    }),
    if: Cel.optional().meta({
      description:
        "Starts a run only if this is true. Reads event: body, headers (in lower case), query, id, received_at.",
      example: 'event.headers["x-github-event"] == "push"',
    }),
    inputs: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({
        description: "The inputs of its runs. Templates in them read event.",
        example: { ref: "${{ event.body.ref }}" },
      }),
    deduplicate: z.string().min(1).max(500).optional().meta({
      description:
        "The value that a repeated delivery has in common with the first, such as event.body.id; it starts no other run. Default: the id that the scheme has for deliveries.",
      example: "event.body.id",
    }),
  })
  .meta({
    id: "Trigger",
    description: "A webhook that starts runs of the published version.",
    example: {
      id: "pushed",
      type: "webhook",
      signature: { scheme: "github", secret: "github-hook" },
      inputs: { ref: "${{ event.body.ref }}" },
    },
  });
export type Trigger = z.output<typeof Trigger>;
