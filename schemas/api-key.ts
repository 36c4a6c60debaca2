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
