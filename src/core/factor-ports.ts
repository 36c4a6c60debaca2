/** Second factors of people, their recovery codes, and what a browser must answer, as interfaces. */
import type { FactorKind } from "../../schemas/second-factor.ts";
import type { Applied } from "./transactions.ts";

export interface SecondFactorRecord {
  id: string;
  userId: string;
  kind: FactorKind;
  /** The name that the person gave it. */
  name: string;
  createdAt: string;
  lastUsedAt: string | null;
  /** The time step of the last code that was used (`totp`), or the signature counter (`passkey`). */
  counter: number;
  /** The shared secret of an authenticator app, sealed; null for a passkey. */
  sealedSecret: Buffer | null;
  /** Null for an authenticator app. */
  passkey: PasskeyCredential | null;
}

export interface PasskeyCredential {
  /** The id that the authenticator gave it, in base64url; unique. */
  credentialId: string;
  /** In COSE format. */
  publicKey: Buffer;
  /** How the browser reaches the authenticator, such as `usb`. */
  transports: readonly string[];
}

/**
 * `sign_in`: a password was right, and the second factor is still missing. `totp`: an authenticator app is being added.
 * `register`, `assert`: a challenge that a passkey signs.
 */
export type FactorChallengeKind = "sign_in" | "totp" | "register" | "assert";

/** Something that a browser has begun and can finish once, until it expires. */
export interface FactorChallenge {
  /** The SHA-256 digest of its token or challenge. */
  digest: Buffer;
  kind: FactorChallengeKind;
  userId: string;
  /**
   * The session or the pending sign-in that it belongs to; for `sign_in`, its own id. What stands before a dot is its origin: the
   * pending sign-ins from one address have the same one. A session is its own origin.
   */
  holder: string;
  /** For `totp` the shared secret, for `sign_in` the state of the password; else null. */
  sealed: Buffer | null;
  expiresAt: string;
}

export interface FactorReader {
  /** The factors of a user, oldest first. */
  list(userId: string): Promise<SecondFactorRecord[]>;
  /** Number of recovery codes that were not used. */
  countRecoveryCodes(userId: string): Promise<number>;
  /** Finds what a browser has begun, also when it has expired. */
  findChallenge(kind: FactorChallengeKind, digest: Buffer): Promise<FactorChallenge | undefined>;
}

/** Its methods that write hold the lock of accounts until the transaction ends, so what was read before stays true. */
export interface FactorWriter extends FactorReader {
  /**
   * @returns false when a passkey with this credential is known already
   * @throws AppError upgrade_unfinished
   */
  insertFactor(factor: SecondFactorRecord): Promise<Applied>;
  /** @returns false when the user has no such factor */
  removeFactor(userId: string, id: string): Promise<Applied>;
  /** Removes the factors, the recovery codes and everything that was begun. @returns the number of factors */
  removeAll(userId: string): Promise<number>;
  /**
   * Records a use, if the counter is above the recorded one, so that of several uses of one code one succeeds. Passkeys whose
   * counter stays 0 have none.
   */
  useFactor(id: string, counter: number): Promise<Applied>;
  /** Replaces the recovery codes, of which the digests are stored. */
  replaceRecoveryCodes(userId: string, digests: readonly Buffer[]): Promise<void>;
  /** Marks a recovery code as used. Of concurrent callers one gets true. */
  useRecoveryCode(userId: string, digest: Buffer): Promise<Applied>;
  /**
   * Inserts a challenge in place of one with the same digest, and deletes some expired ones. Of one kind a user has at most 20
   * from one origin, the newest ones, so that one origin does not end what another one has begun; and 1,000 in all.
   */
  insertChallenge(challenge: FactorChallenge): Promise<void>;
  /** Takes what was begun, so that nobody else can finish it. Of concurrent callers one gets true. */
  takeChallenge(challenge: Pick<FactorChallenge, "digest" | "kind" | "userId" | "holder">): Promise<Applied>;
}
