/** How a sender proves who it is: of a trigger, and of an event that a step waits for. */
import { z } from "zod";

const SIGNATURE_SCHEMES = [
  "standard_webhooks",
  "github",
  "stripe",
  "slack",
  "shared_secret",
  "hmac",
] as const;

export const HeaderName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, { error: "must be the name of a header" });

/** What precedes a value in a header: no white space, and none of the characters that separate values. */
const Prefix = z.string().regex(/^[!-+\--:<-~]{1,40}$/, {
  error: "must be up to 40 characters without a space, a comma or a semicolon",
});

/** As `Prefix`, or the scheme of an Authorization header with the space after it (RFC 9110, section 11.4). */
const SignaturePrefix = z.string().regex(/^(?=.{1,40}$)[!-+\--:<-~]+ ?$/, {
  error:
    "must be up to 40 characters without a comma or a semicolon, and without a space except for one at the end",
});

export const SecretName = z.string().min(1).max(64);

export const Signature = z
  .strictObject({
    scheme: z.enum(SIGNATURE_SCHEMES).meta({
      description:
        "Who signs, and how. shared_secret: the secret itself is sent in a header, as GitLab and many others do. hmac: an HMAC in a header of the sender's own.",
      example: "github",
    }),
    secret: z.union([SecretName, z.array(SecretName).min(1).max(3)]).meta({
      description:
        "The name of a secret in the configuration; while it is being replaced, a list of the new and the old one.",
      example: "github-hook",
    }),
    header: HeaderName.optional().meta({
      description:
        "With hmac: the header that has the signature. With shared_secret: the one that has the secret; default: X-Webhook-Secret.",
      example: "X-Gitlab-Token",
    }),
    algorithm: z.enum(["sha256", "sha1", "sha512"]).optional().meta({
      description: "With hmac: the hash. Default: sha256.",
      example: "sha256",
    }),
    encoding: z.enum(["hex", "base64"]).optional().meta({
      description: "With hmac: how the signature is written. Default: hex.",
      example: "base64",
    }),
    secret_encoding: z.enum(["base64", "hex"]).optional().meta({
      description: "With hmac: how the secret writes the bytes of the key. Default: the key is the text.",
      example: "base64",
    }),
    prefix: SignaturePrefix.optional().meta({
      description:
        "With hmac: what precedes the signature, such as sha256= or HMAC and a space. Of a header with several parts (t=…,v1=…) those with this prefix count.",
      example: "sha256=",
    }),
    signs: z.string().min(1).max(200).optional().meta({
      description:
        "With hmac: what is signed, with {body}, {timestamp}, {id}, {url} (of the trigger, with the query) and {form} (the fields of a form, sorted). Default: {body}.",
      example: "v0:{timestamp}:{body}",
    }),
    timestamp: z.string().min(1).max(200).optional().meta({
      description:
        "With hmac: the header of {timestamp}, or a value of a signed body such as event.body.sentAt. Older than 5 minutes is refused.",
      example: "X-Request-Timestamp",
    }),
    timestamp_prefix: Prefix.optional().meta({
      description: "With hmac: what precedes the time in a header with several parts.",
      example: "t=",
    }),
    id: HeaderName.optional().meta({
      description: "With hmac: the header that has the id of the delivery.",
      example: "X-Request-Id",
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
