/** API keys as they are told: never their value, but for the one time. */
import { z } from "zod";
import { Scope } from "./actor.ts";
import { text, timestamp } from "./text.ts";

export const ApiKeyState = z
  .enum(["active", "expiring", "expired", "revoked", "owner_inactive", "owner_unknown"])
  .meta({
    description:
      "`expiring`: works, and ends within seven days. Dead while its owner is not active (`owner_inactive`) or is nobody " +
      "who is known here (`owner_unknown`).",
    example: "active",
  });
export type ApiKeyState = z.infer<typeof ApiKeyState>;

export const ApiKeyName = text(100, 1)
  .refine((name) => !/\p{Cc}/u.test(name), {
    message: "must not hold control characters",
    params: { code: "invalid_text" },
  })
  .meta({ description: "What it is for; runs and the audit log name it.", example: "ci" });

export const ApiKeyIdRef = text(100, 1).meta({
  description: "The key's id, as list_api_keys gives it.",
  example: "key_8dkq2m0sfj3a",
});

const apiKeyNoun = {
  id: z.string().meta({ example: "key_8dkq2m0sfj3a" }),
  name: z.string().meta({ example: "ci" }),
  owner: z.string().meta({
    description: "Who made it: an e-mail address, or operator for the command line.",
    example: "ann@example.com",
  }),
  last_four: z.string().meta({ description: "The end of its value.", example: "x7Qz" }),
  scopes: z.array(Scope).meta({
    description: "What it may do, as far as its owner's role allows it too.",
    example: ["read", "run"],
  }),
  created_at: timestamp,
  expires_at: timestamp.nullable().meta({ description: "From when on it is dead; null for never." }),
  last_used_at: timestamp.nullable().meta({ description: "When it was last used, to about five minutes." }),
  state: ApiKeyState,
};

/** The value of a new key. */
const value = z.string().nullable().meta({
  description: "The key itself, this one time; null where the request is a repeated one.",
  example: null,
});

export const ApiKey = z.strictObject(apiKeyNoun).meta({
  id: "ApiKey",
  description: "An API key; its value is stored nowhere.",
});
export type ApiKey = z.infer<typeof ApiKey>;

export const NewApiKey = z
  .strictObject({ ...apiKeyNoun, value })
  .meta({ id: "NewApiKey", description: "An API key that was just made." });

export const SuccessorApiKey = z
  .strictObject({
    ...apiKeyNoun,
    value,
    replaces: z
      .strictObject({
        id: z.string().meta({ example: "key_2m0sfj3a8dkq" }),
        expires_at: timestamp.meta({ description: "Until then the old key goes on working." }),
      })
      .meta({ description: "The key that it takes the place of." }),
  })
  .meta({ id: "SuccessorApiKey", description: "An API key that takes the place of another." });
