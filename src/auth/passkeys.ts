/** Passkeys as a second factor, with @simplewebauthn/server (Web Authentication Level 3, 7). */
import type { PasskeyAssertion, PasskeyRegistration } from "../../schemas/second-factor.ts";
import type { PasskeyCredential, SecondFactorRecord } from "../core/factor-ports.ts";
import type { RelyingParty } from "./second-factors.ts";

/** It is large, and few requests need it. */
const library = () => import("@simplewebauthn/server");

/** The types of the library are names that a later version may add to. */
type Transports = NonNullable<
  Parameters<
    Awaited<ReturnType<typeof library>>["verifyAuthenticationResponse"]
  >[0]["credential"]["transports"]
>;

/** EdDSA, ES256 and RS256 (RFC 8812, RFC 9053), which all authenticators have one of. */
const ALGORITHMS = [-8, -7, -257];

/** Maximum length of a credential's id, in bytes (Web Authentication Level 3, 7.1, step 25). */
const MAX_CREDENTIAL_ID = 1_023;

type PasskeyFactor = SecondFactorRecord & { passkey: PasskeyCredential };

export const isPasskey = (factor: SecondFactorRecord): factor is PasskeyFactor => factor.passkey !== null;

const descriptorOf = ({ passkey: { credentialId, transports } }: PasskeyFactor) => ({
  id: credentialId,
  transports: [...transports] as Transports,
});

/** Returns what the browser needs to make a passkey, with a random challenge. */
export async function registrationOptions(
  { id }: RelyingParty,
  user: { id: string; email: string },
  known: readonly SecondFactorRecord[],
) {
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpName: "Millrace",
    rpID: id,
    userName: user.email,
    userID: new TextEncoder().encode(user.id),
    attestationType: "none",
    supportedAlgorithmIDs: ALGORITHMS,
    // The same authenticator twice would be no second one.
    excludeCredentials: known.filter(isPasskey).map(descriptorOf),
    authenticatorSelection: { residentKey: "discouraged", userVerification: "preferred" },
  });
}

/** Returns what the browser needs to use one of these passkeys, with a random challenge. */
export async function assertionOptions({ id }: RelyingParty, known: readonly SecondFactorRecord[]) {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: id,
    allowCredentials: known.filter(isPasskey).map(descriptorOf),
    userVerification: "preferred",
  });
}

/** The challenge that an answer was made for; undefined if it is unreadable. */
export function challengeOf(clientDataJson: string): string | undefined {
  try {
    const data = JSON.parse(Buffer.from(clientDataJson, "base64url").toString("utf8")) as unknown;
    const challenge = (data as { challenge?: unknown } | null)?.challenge;
    return typeof challenge === "string" ? challenge : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Verifies a new passkey.
 * @param challenge the challenge that was given for it
 * @throws Error if it is not valid for this origin and challenge, or its id is too long or another one than the browser named
 */
export async function verifyRegistration(
  { id, origin }: RelyingParty,
  challenge: string,
  { id: credentialId, client_data_json, attestation_object, transports = [] }: PasskeyRegistration,
): Promise<{ passkey: PasskeyCredential; counter: number }> {
  const { verifyRegistrationResponse } = await library();
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: {
      id: credentialId,
      rawId: credentialId,
      type: "public-key",
      clientExtensionResults: {},
      response: { clientDataJSON: client_data_json, attestationObject: attestation_object },
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: false,
    supportedAlgorithmIDs: ALGORITHMS,
  });
  if (!verified) throw new Error("the attestation is not valid");
  const { credential } = registrationInfo;
  // The id in the signed data is the one that counts, and the library does not compare it with the one beside it.
  if (credential.id !== credentialId) throw new Error("the id is not that of the attested credential");
  if (Buffer.byteLength(credentialId, "base64url") > MAX_CREDENTIAL_ID)
    throw new Error(`the id of the credential is longer than ${MAX_CREDENTIAL_ID} bytes`);
  return {
    passkey: { credentialId: credential.id, publicKey: Buffer.from(credential.publicKey), transports },
    counter: credential.counter,
  };
}

/**
 * Verifies the signature of a passkey.
 * @returns its new signature counter
 * @throws Error if it is not valid for this origin and challenge, or its counter went back, as that of a copy would
 */
export async function verifyAssertion(
  { id, origin }: RelyingParty,
  challenge: string,
  { passkey, counter }: PasskeyFactor,
  assertion: PasskeyAssertion,
): Promise<number> {
  const { verifyAuthenticationResponse } = await library();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      id: assertion.id,
      rawId: assertion.id,
      type: "public-key",
      clientExtensionResults: {},
      response: {
        clientDataJSON: assertion.client_data_json,
        authenticatorData: assertion.authenticator_data,
        signature: assertion.signature,
      },
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: false,
    credential: {
      id: passkey.credentialId,
      publicKey: new Uint8Array(passkey.publicKey),
      counter,
      transports: [...passkey.transports] as Transports,
    },
  });
  if (!verified) throw new Error("the signature is not valid");
  return authenticationInfo.newCounter;
}
