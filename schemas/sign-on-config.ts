/** The part of the configuration for signing in through an identity provider. */
import { z } from "zod";
import { Duration } from "./field-values.ts";
import { Role } from "./user.ts";

export const SignOn = z
  .strictObject({
    groups: z
      .record(z.string().min(1).max(256), Role)
      .default({ "millrace-admin": "admin", "millrace-editor": "editor", "millrace-viewer": "viewer" })
      .meta({
        description:
          "The role that each group at the identity provider grants. Of several, the highest applies.",
      }),
    groups_claim: z.string().min(1).max(256).default("groups").meta({
      description: "oidc: the claim with a user's groups (cognito: always cognito:groups).",
    }),
    default_role: z.enum(["viewer", "editor", "none"]).default("viewer").meta({
      description: "The initial role of a user to whom no group grants one; none: the user is refused.",
    }),
    trust_emails: z.boolean().default(false).meta({
      description:
        "oidc: treat addresses as verified when the provider does not send email_verified (Entra ID). Only for providers where users can't choose their own address.",
    }),
    refresh: Duration.default("10m").meta({
      description: "oidc: how often the claims of a signed-in user are refreshed at the provider.",
    }),
  })
  .meta({ description: "For --auth-mode cognito and oidc." });
