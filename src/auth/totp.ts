/** Codes of authenticator apps: TOTP with SHA-1, six digits and 30 seconds, which all apps know (RFC 6238). */
import * as otpauth from "otpauth";

const PERIOD_S = 30;
/** Codes of the step before and after are accepted too, for clocks that differ (RFC 6238, 5.2). */
const WINDOW = 1;
/** Length of a shared secret, in bytes (RFC 4226, 4). */
const SECRET_BYTES = 20;

const totpOf = (secret: string, names: { issuer?: string; label?: string } = {}): otpauth.TOTP =>
  new otpauth.TOTP({
    ...names,
    secret: otpauth.Secret.fromBase32(secret),
    algorithm: "SHA1",
    digits: 6,
    period: PERIOD_S,
  });

/** Returns a random shared secret, in base32. */
export const newTotpSecret = (): string => new otpauth.Secret({ size: SECRET_BYTES }).base32;

/** The URI that apps read from a QR code. @param instance the host, which tells accounts of several instances apart */
export const totpUri = (secret: string, email: string, instance: string): string =>
  totpOf(secret, { issuer: `Millrace ${instance}`, label: email }).toString();

/**
 * Compares a code with those of a secret.
 * @param code may contain white space
 * @param now in milliseconds since 1970
 * @returns the time step that the code belongs to; undefined if it is wrong
 */
export function matchTotp(secret: string, code: string, now: number): number | undefined {
  const totp = totpOf(secret);
  const delta = totp.validate({ token: code.replaceAll(/\s/g, ""), timestamp: now, window: WINDOW });
  return delta === null ? undefined : totp.counter({ timestamp: now }) + delta;
}
