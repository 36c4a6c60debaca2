/**
 * Checks who sent a webhook, as the vendors document it. Triggers of workflows, the events that runs wait for, and
 * interactions of chat programs use the same checks.
 */
import { checkGithub } from "./github.ts";
import { checkHmac } from "./hmac.ts";
import { refused } from "./parts.ts";
import { type SecretForm, secretFormOf, unfitSecret } from "./secret-forms.ts";
import { checkSharedSecret } from "./shared-secret.ts";
import { checkSlack } from "./slack.ts";
import { checkStandardWebhooks } from "./standard-webhooks.ts";
import { checkStripe } from "./stripe.ts";
import type {
  CheckedRequest,
  CheckScheme,
  SignatureResult,
  SignatureScheme,
  SignatureSettings,
} from "./types.ts";

export { DEFAULT_SECRET_HEADER } from "./shared-secret.ts";

export { bodyTimeRefusal } from "./moments.ts";
export { keyOf } from "./keys.ts";
export { isEqual } from "./parts.ts";
export { isOver } from "./signed-content.ts";
export type { SignatureScheme, SignedRequest } from "./types.ts";

const CHECKS: Readonly<Record<SignatureScheme, CheckScheme>> = {
  standard_webhooks: checkStandardWebhooks,
  github: checkGithub,
  stripe: checkStripe,
  slack: checkSlack,
  shared_secret: checkSharedSecret,
  hmac: checkHmac,
};

/**
 * Checks the signature of a request, and that it was made within the replay window where the scheme signs a time.
 * @param request `secrets`: all that are valid now; one of them must fit
 */
export function checkSignature(settings: SignatureSettings, request: CheckedRequest): SignatureResult {
  const { scheme } = settings;
  if (request.secrets.length === 0)
    return refused(
      "unusable_secret",
      "No secret of this trigger has a value. Ask the operator to set its variable.",
    );
  const unusable = request.secrets.flatMap((secret) => {
    const found = unfitSecret(secretFormOf(settings) as SecretForm, secret);
    return found?.severity === "error" ? [{ secret, message: found.message }] : [];
  });
  const secrets = request.secrets.filter((secret) => unusable.every((other) => other.secret !== secret));
  const result = CHECKS[scheme]({ ...request, secrets }, settings);
  const [first] = unusable;
  // The sender may have used the one that can't be read.
  return first !== undefined && !result.valid && result.reason === "mismatch"
    ? refused("unusable_secret", `The secret ${first.message}. Ask the operator to correct it.`)
    : result;
}
