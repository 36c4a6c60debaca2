/** What somebody who sets up the sender of a webhook needs to know, by scheme. */
import * as texts from "#texts/workflows";
import type { TriggerState } from "../../../schemas/trigger-delivery.ts";

type Signature = NonNullable<TriggerState["signature"]>;

export function signatureHelp({ scheme, header }: Signature): { name: string; text: string } {
  return {
    name: texts.signatureName({ scheme }),
    text: texts.signatureHelp({ scheme, header: header ?? "X-Webhook-Secret" }),
  };
}
