/** How a sender proves who it is: of a trigger, and of an event that a step waits for. */
import { z } from "zod";

const SIGNATURE_SCHEMES = ["standard_webhooks", "github", "stripe", "slack", "shared_secret"] as const;

const SecretName = z.string().min(1).max(64);

export const Signature = z
  .strictObject({
    scheme: z.enum(SIGNATURE_SCHEMES).meta({
      description:
        "Who signs, and how. shared_secret: the secret itself is sent in a header, as GitLab and many others do.",
      example: "github",
    }),
    secret: z.union([SecretName, z.array(SecretName).min(1).max(3)]).meta({
      description:
        "The name of a secret in the configuration; while it is being replaced, a list of the new and the old one.",
      example: "github-hook",
    }),
    header: z
      .string()
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, { error: "must be the name of a header" })
      .optional()
      .meta({
        description: "With shared_secret: the header that has the secret. Default: X-Webhook-Secret.",
        example: "X-Gitlab-Token",
      }),
  })
  .meta({
    id: "Signature",
    description:
      "The signature that a request must have. Others are refused, and so are those older than 5 minutes.",
    example: { scheme: "github", secret: "github-hook" },
  });
export type Signature = z.output<typeof Signature>;

/** The names of the secrets that a signature may be made with. */
export const secretNames = ({ secret }: Pick<Signature, "secret">): readonly string[] =>
  typeof secret === "string" ? [secret] : secret;
