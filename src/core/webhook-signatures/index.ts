/**
 * Checks who sent a webhook, as the vendors document it. Triggers of workflows, the events that runs wait for, and
 * interactions of chat programs use the same checks.
 */
import { checkGithub } from "./github.ts";
import { refused } from "./parts.ts";
import { checkSharedSecret } from "./shared-secret.ts";
import { checkSlack } from "./slack.ts";
import { checkStandardWebhooks } from "./standard-webhooks.ts";
import { checkStripe } from "./stripe.ts";
import type { CheckedRequest, CheckScheme, SignatureResult, SignatureScheme } from "./types.ts";

export { DEFAULT_SECRET_HEADER } from "./shared-secret.ts";

export type { SignatureScheme, SignedRequest } from "./types.ts";

const CHECKS: Readonly<Record<SignatureScheme, CheckScheme>> = {
  standard_webhooks: checkStandardWebhooks,
  github: checkGithub,
  stripe: checkStripe,
  slack: checkSlack,
  shared_secret: checkSharedSecret,
};

/**
 * Checks the signature of a request, and that it was made within the replay window where the scheme signs a time.
 * @param request `secrets`: all that are valid now; one of them must fit
 */
export const checkSignature = (scheme: SignatureScheme, request: CheckedRequest): SignatureResult =>
  request.secrets.length === 0
    ? refused(
        "unusable_secret",
        "No secret of this trigger has a value. Ask the operator to set its variable.",
      )
    : CHECKS[scheme](request);
