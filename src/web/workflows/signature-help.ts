/** What somebody who sets up the sender of a webhook needs to know, by scheme. */
import type { TriggerState } from "../../../schemas/trigger-delivery.ts";

type Signature = NonNullable<TriggerState["signature"]>;

const HELP: Readonly<Record<Signature["scheme"], { name: string; text: string }>> = {
  standard_webhooks: {
    name: "Standard Webhooks",
    text: "The sender signs with webhook-id, webhook-timestamp and webhook-signature (or svix-…), and the secret begins with whsec_.",
  },
  github: {
    name: "GitHub",
    text: "In the repository under Settings, Webhooks: enter the URL, choose application/json, and enter the secret.",
  },
  stripe: {
    name: "Stripe",
    text: "In the Stripe dashboard under Developers, Webhooks: add the URL as an endpoint. Its signing secret (whsec_…) is the secret.",
  },
  slack: {
    name: "Slack",
    text: "In the settings of the Slack app under Event Subscriptions: enter the URL. The app’s signing secret is the secret.",
  },
  shared_secret: {
    name: "Shared secret",
    text: "The sender sends the secret itself in a header.",
  },
  hmac: {
    name: "HMAC",
    text: "The sender signs with the secret, in a header of its own.",
  },
};

export function signatureHelp({ scheme, header }: Signature): { name: string; text: string } {
  const help = HELP[scheme];
  switch (scheme) {
    case "shared_secret":
      return {
        ...help,
        text: `The sender sends the secret itself in the header ${header ?? "X-Webhook-Secret"}.`,
      };
    case "hmac":
      return {
        ...help,
        text: `The sender signs with the secret, and sends the signature in the header ${header ?? ""}.`,
      };
    case "standard_webhooks":
    case "github":
    case "stripe":
    case "slack":
      return help;
  }
}
