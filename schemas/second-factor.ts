/** Second factors: authenticator apps, passkeys and recovery codes. */
import { z } from "zod";
import { text, timestamp } from "./text.ts";

export const FactorKind = z.enum(["totp", "passkey"]).meta({
  description: "`totp`: an authenticator app with codes of six digits (RFC 6238). `passkey`: WebAuthn.",
  example: "totp",
});
export type FactorKind = z.infer<typeof FactorKind>;

/** Maximum number of factors of a person. */
export const MAX_FACTORS = 10;

export const FactorName = text(60, 1).meta({
  description: "A name by which you recognize it.",
  example: "Phone",
});

export const SecondFactor = z
  .strictObject({
    id: z.string().meta({ example: "fac_8dkq2m0sfj3a" }),
    kind: FactorKind,
    name: z.string().meta({ example: "Phone" }),
    created_at: timestamp,
    last_used_at: timestamp.nullable(),
  })
  .meta({ id: "SecondFactor", description: "A second factor of the signed-in user." });
export type SecondFactor = z.infer<typeof SecondFactor>;

export const FactorIdRef = text(100, 1).meta({
  description: "The factor's id, from get_second_factors.",
  example: "fac_8dkq2m0sfj3a",
});

export const SecondFactors = z
  .strictObject({
    factors: z.array(SecondFactor).meta({ description: `At most ${MAX_FACTORS}.` }),
    recovery_codes: z.int().meta({ description: "Number of unused recovery codes.", example: 10 }),
    required: z.boolean().meta({ description: "Whether a role of the user requires one.", example: false }),
    passkey_origin: z.string().nullable().meta({
      description: "The only origin at which passkeys work; null where the base URL has no host name.",
      example: "https://millrace.example.com",
    }),
    confirmed_until: timestamp.nullable().meta({
      description:
        "Until when changes need no confirmation, after a sign-in or a confirmation; null for now.",
    }),
  })
  .meta({ id: "SecondFactors", description: "The second factors of the signed-in user." });
export type SecondFactors = z.infer<typeof SecondFactors>;

export const RecoveryCodes = z
  .strictObject({
    recovery_codes: z.array(z.string()).meta({
      description: "Ten codes that work once each, shown only now. Earlier ones stop working.",
      example: ["abcd-efgh-jkmn-pqrs"],
    }),
  })
  .meta({ id: "RecoveryCodes", description: "Codes for signing in without the second factor." });

export const FactorAdded = z
  .strictObject({
    factor: SecondFactor,
    recovery_codes: RecoveryCodes.shape.recovery_codes.nullable().meta({
      description: "With the first factor ten recovery codes, shown only now; else null.",
    }),
  })
  .meta({ id: "FactorAdded", description: "A new second factor." });

/** Six digits, in groups as apps show them. */
export const TotpCode = text(20, 1)
  .regex(/^\s*(?:\d\s*){6}$/, "must be the six digits of the authenticator app")
  .meta({ description: "The code that the authenticator app shows.", example: "123456" });

export const RecoveryCode = text(40, 1).meta({
  description: "An unused recovery code; case, spaces and hyphens are ignored.",
  example: "abcd-efgh-jkmn-pqrs",
});

const base64url = (max: number, description: string) =>
  text(max, 1)
    .regex(/^[\w-]+$/, "must be base64url")
    .meta({ description: `${description}, in base64url.`, example: "AQIDBA" });

const CREDENTIAL_ID = 1_400;

/** The answer of `navigator.credentials.create()`. */
export const PasskeyRegistration = z
  .strictObject({
    id: base64url(CREDENTIAL_ID, "The id of the credential"),
    client_data_json: base64url(8_000, "`clientDataJSON`"),
    attestation_object: base64url(40_000, "`attestationObject`"),
    transports: z
      .array(text(20, 1))
      .max(10)
      .optional()
      .meta({ description: "What `getTransports()` returned.", example: ["internal"] }),
  })
  .meta({
    id: "PasskeyRegistration",
    description: "A new passkey, as the browser returned it.",
    example: { id: "AQIDBA", client_data_json: "e30", attestation_object: "oA", transports: ["internal"] },
  });
export type PasskeyRegistration = z.infer<typeof PasskeyRegistration>;

/** The answer of `navigator.credentials.get()`. */
export const PasskeyAssertion = z
  .strictObject({
    id: base64url(CREDENTIAL_ID, "The id of the credential"),
    client_data_json: base64url(8_000, "`clientDataJSON`"),
    authenticator_data: base64url(8_000, "`authenticatorData`"),
    signature: base64url(8_000, "`signature`"),
  })
  .meta({ id: "PasskeyAssertion", description: "The signature of a passkey, as the browser returned it." });
export type PasskeyAssertion = z.infer<typeof PasskeyAssertion>;

/** What the browser passes to the authenticator (Web Authentication Level 3, 5.1). */
export const PasskeyOptions = z
  .strictObject({
    options: z.record(z.string(), z.unknown()).meta({
      description: "The `publicKey` of `navigator.credentials`, in the JSON of Web Authentication Level 3.",
      example: { challenge: "AQIDBA" },
    }),
  })
  .meta({ id: "PasskeyOptions", description: "A challenge for a passkey, which can be answered once." });

export const SecondStep = z
  .strictObject({
    second_factor: z.strictObject({
      methods: z.array(z.enum([...FactorKind.options, "recovery_code"])).meta({
        description: "What the person has set up.",
        example: ["totp", "recovery_code"],
      }),
      expires_at: timestamp.meta({ description: "Until when the second step works." }),
    }),
  })
  .meta({ id: "SecondStep", description: "The password was right; the second factor is still missing." });
export type SecondStep = z.infer<typeof SecondStep>;
