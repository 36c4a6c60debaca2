/** Whether a secret has the form of the scheme that it is for. Only the answer leaves the connections, never the value. */
import { standardWebhooksKey } from "./standard-webhooks.ts";
import { keyOf } from "./keys.ts";
import type { SignatureScheme } from "./types.ts";

/** A form of secrets: that of a scheme, or of an `hmac` whose key is encoded. */
export type SecretForm = SignatureScheme | "hmac base64" | "hmac hex";

/** The form that the secret of a signature must have. @param signature of any content */
export const secretFormOf = ({
  scheme,
  secret_encoding: encoding,
}: Readonly<Record<string, unknown>>): unknown =>
  scheme === "hmac" && typeof encoding === "string" ? `hmac ${encoding}` : scheme;

/** Why a secret does not fit a scheme. */
export interface UnfitSecret {
  scheme: SecretForm;
  /** `error`: no signature can be checked with it; `warning`: it is probably not the one that the sender has. */
  severity: "error" | "warning";
  /** A clause after the name of the secret. */
  message: string;
  /** What its owner does, as a clause that begins with a verb. */
  fix: string;
}

type Finding = Omit<UnfitSecret, "scheme">;

const COPY = "copy the secret from the sender's settings once more";

const error = (message: string): Finding => ({ severity: "error", message, fix: COPY });
const warning = (message: string, fix = COPY): Finding => ({ severity: "warning", message, fix });

const ENDS_IN_WHITE_SPACE = warning(
  "begins or ends with white space, which is then a part of the key that the sender must have",
);

const FORMS: Readonly<Record<SecretForm, (secret: string) => Finding | undefined>> = {
  standard_webhooks: (secret) =>
    standardWebhooksKey(secret) === undefined
      ? error("must be base64, with whsec_ before it, as Standard Webhooks writes it")
      : undefined,
  github: keyText,
  stripe: (secret) =>
    keyText(secret) ??
    (secret.startsWith("whsec_")
      ? undefined
      : warning("does not begin with whsec_, as the signing secret of an endpoint in Stripe does")),
  slack: (secret) =>
    keyText(secret) ??
    (/^[0-9a-f]{32}$/.test(secret)
      ? undefined
      : warning("is not 32 hexadecimal digits, as the signing secret of an app in Slack is")),
  shared_secret: (secret) =>
    /[^\t\x20-\x7e]/.test(secret.trim())
      ? warning(
          "has characters beyond ASCII, which senders write into a header in different ways",
          "set a secret of ASCII characters here and at the sender",
        )
      : undefined,
  hmac: keyText,
  "hmac base64": (secret) =>
    keyOf(secret, { secret_encoding: "base64" }) === undefined ? error("must be base64") : undefined,
  "hmac hex": (secret) =>
    keyOf(secret, { secret_encoding: "hex" }) === undefined
      ? error("must be pairs of hexadecimal digits")
      : undefined,
};

function keyText(secret: string): Finding | undefined {
  return secret === secret.trim() ? undefined : ENDS_IN_WHITE_SPACE;
}

/** @returns undefined for a secret that has the form */
export function unfitSecret(scheme: SecretForm, secret: string): UnfitSecret | undefined {
  const found = secret.trim() === "" ? error("is only white space") : FORMS[scheme](secret);
  return found && { scheme, ...found };
}

/** What is wrong with a secret, for each scheme that it does not fit. */
export const unfitFor = (secret: string): UnfitSecret[] =>
  (Object.keys(FORMS) as SecretForm[]).flatMap((scheme) => unfitSecret(scheme, secret) ?? []);
