/** API keys as the API returns them. The value of a key is only in the response that creates it. */
import { z } from "zod";
import { Scope } from "./actor.ts";
import { text, timestamp, visible } from "./text.ts";

export const ApiKeyState = z
  .enum(["active", "expiring", "expired", "revoked", "owner_inactive", "owner_unknown"])
  .meta({
    description:
      "`expiring`: works, and expires within seven days. `owner_inactive` and `owner_unknown`: refused while its owner is " +
      "not an active user, or not a user at all.",
    example: "active",
  });
export type ApiKeyState = z.infer<typeof ApiKeyState>;

export const ApiKeyName = visible("line", 100, 1).meta({
  description: "What the key is for; shown in runs and the audit log.",
  example: "ci",
});

export const ApiKeyIdRef = text(100, 1).meta({
  description: "The key's id, from list_api_keys.",
  example: "key_8dkq2m0sfj3a",
});

/** Maximum number of names in one limit of a key, and of its projects. */
const MAX_NAMES = 100;

const names = (description: string, example: string) =>
  z
    .array(text(200, 1))
    .min(1)
    .max(MAX_NAMES)
    .optional()
    .meta({ description, example: [example] });

export const KeyProjects = z
  .array(text(200, 1))
  .min(1)
  .max(MAX_NAMES)
  .meta({ description: "The ids of its projects.", example: ["finance"] });

export const KeyLimits = z
  .strictObject({
    workflows: names(
      "Ids of the workflows that it sees and runs. It can't create or change any.",
      "weekly-revenue",
    ),
    tools: names(
      "Names of the operations, and of workflows that are tools of their own, that it may use.",
      "run_workflow",
    ),
    databases: names("Names of the databases that its runs may use.", "shop"),
    models: names("Names of the models that its runs may use.", "gpt"),
  })
  .meta({
    id: "KeyLimits",
    description: "What a key is limited to, beyond its scopes. What is left out is not limited.",
  });

const apiKeyFields = {
  id: z.string().meta({ example: "key_8dkq2m0sfj3a" }),
  name: z.string().meta({ example: "ci" }),
  owner: z.string().meta({
    description: "Who created it: an e-mail address, or `operator` for the command line.",
    example: "ann@example.com",
  }),
  last_four: z.string().meta({ description: "The last four characters of its value.", example: "x7Qz" }),
  scopes: z.array(Scope).meta({
    description: "What it may do, limited by its owner's role.",
    example: ["read", "run"],
  }),
  created_at: timestamp,
  expires_at: timestamp.nullable().meta({ description: "When it expires; null for never." }),
  last_used_at: timestamp
    .nullable()
    .meta({ description: "When it was last used, accurate to five minutes." }),
  state: ApiKeyState,
  projects: z
    .array(z.string())
    .optional()
    .meta({
      description: "The ids of its projects; left out for the default one alone.",
      example: ["finance"],
    }),
  limits: KeyLimits.optional().meta({ description: "What it is limited to; left out for nothing." }),
  application: z
    .strictObject({
      client_id: z.string().meta({
        description: "The id of the OAuth client.",
        example: "https://claude.ai/oauth/client.json",
      }),
      host: z.string().meta({ description: "Where the application is.", example: "claude.ai" }),
    })
    .optional()
    .meta({
      description:
        "The application that a person has connected by signing in. It renews its token by itself until `expires_at`. Left out for an API key.",
    }),
};

const value = z.string().nullable().meta({
  description: "The key itself, returned only once; null in the answer to a repeated request.",
  example: null,
});

export const ApiKey = z.strictObject(apiKeyFields).meta({
  id: "ApiKey",
  description: "An API key, without its value: that is not stored.",
});
export type ApiKey = z.infer<typeof ApiKey>;

export const DescribedApiKey = z
  .strictObject({
    ...apiKeyFields,
    description: z
      .array(
        z.strictObject({
          title: z.string().meta({ example: "What it can do" }),
          sentences: z.array(z.string()).meta({ example: ["It can run one workflow: weekly-revenue."] }),
        }),
      )
      .meta({ description: "What the key can do now, in words." }),
  })
  .meta({ id: "DescribedApiKey", description: "An API key, and what it can do in words." });
export type DescribedApiKey = z.infer<typeof DescribedApiKey>;

export const NewApiKey = z
  .strictObject({ ...apiKeyFields, value })
  .meta({ id: "NewApiKey", description: "A new API key." });

export const SuccessorApiKey = z
  .strictObject({
    ...apiKeyFields,
    value,
    replaces: z
      .strictObject({
        id: z.string().meta({ example: "key_2m0sfj3a8dkq" }),
        expires_at: timestamp.meta({ description: "Until when the old key keeps working." }),
      })
      .meta({ description: "The key that it replaces." }),
  })
  .meta({ id: "SuccessorApiKey", description: "An API key that replaces another." });
