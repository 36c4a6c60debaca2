/** Makes and uses passkeys. The library is loaded with the first one. */
import * as texts from "#texts/account";
import type { PasskeyAssertion, PasskeyRegistration } from "../../../schemas/second-factor.ts";

const library = () => import("@simplewebauthn/browser");

type CreationOptions = Parameters<Awaited<ReturnType<typeof library>>["startRegistration"]>[0]["optionsJSON"];
type RequestOptions = Parameters<
  Awaited<ReturnType<typeof library>>["startAuthentication"]
>[0]["optionsJSON"];

/** Whether this page can use passkeys: browsers have them in secure contexts only. */
export const hasPasskeys = (): boolean => window.isSecureContext && "PublicKeyCredential" in window;

/** @param options what the server returned. @throws Error if the person cancels, or the browser refuses */
export async function createPasskey(options: Record<string, unknown>): Promise<PasskeyRegistration> {
  const { startRegistration } = await library();
  const { id, response } = await startRegistration({ optionsJSON: options as unknown as CreationOptions });
  return {
    id,
    client_data_json: response.clientDataJSON,
    attestation_object: response.attestationObject,
    ...(response.transports && { transports: response.transports }),
  };
}

/** @param options what the server returned. @throws Error if the person cancels, or the browser refuses */
export async function signWithPasskey(options: Record<string, unknown>): Promise<PasskeyAssertion> {
  const { startAuthentication } = await library();
  const { id, response } = await startAuthentication({ optionsJSON: options as unknown as RequestOptions });
  return {
    id,
    client_data_json: response.clientDataJSON,
    authenticator_data: response.authenticatorData,
    signature: response.signature,
  };
}

/** @returns an error of the browser in words; the browser does not say whether somebody cancelled or nothing was found */
export function passkeyError(error: Error): Error {
  if (error.name === "NotAllowedError") return new Error(texts.passkeyNotUsed);
  if (error.name === "InvalidStateError") return new Error(texts.passkeyExists);
  return error;
}
