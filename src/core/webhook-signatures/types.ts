/** What the schemes of webhook signatures have in common. */
import type { Signature } from "../../../schemas/signature.ts";

/** How senders of webhooks prove who they are. */
export type SignatureScheme = Signature["scheme"];

/** A request as it arrived: signatures are over the bytes of the body, not over what they mean. */
export interface SignedRequest {
  /** Names in lower case. Each value has one character for each byte. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body: Buffer;
  /** The query as it was sent, with its `?`; empty without one. */
  search?: string;
  /**
   * Reads the fields of the body, in their order; undefined where it is no form.
   * @throws AppError invalid_input for a form that can't be read
   */
  form?: () => readonly (readonly [name: string, value: string])[] | undefined;
}

export interface CheckedRequest extends SignedRequest {
  /** The secrets that are valid now; during a rotation two of them. */
  secrets: readonly string[];
  /** In milliseconds since 1970. */
  now: number;
  /** The URL that the sender was given, with the query of this request. Only where the signature is over it. */
  url?: string;
}

/** What the definition says of a signature, beside the names of the secrets. */
export type SignatureSettings = Omit<Signature, "secret">;

/**
 * Why a signature is refused. `missing`: a header of the scheme is not there; `malformed`: it can't be read; `mismatch`: the
 * body, the time or the secret is another one; `expired`: it was made too long ago, or in the future; `unusable_secret`: a
 * secret of ours does not have the form of the scheme.
 */
export type SignatureRefusal = "missing" | "malformed" | "mismatch" | "expired" | "unusable_secret";

export type SignatureResult =
  | {
      valid: true;
      /** What the headers call the delivery; null where the scheme has no header for it. */
      deliveryId: string | null;
    }
  | {
      valid: false;
      reason: SignatureRefusal;
      /** What is wrong and what to do, without any secret or signature. */
      message: string;
    };

export type CheckScheme = (request: CheckedRequest, settings: SignatureSettings) => SignatureResult;
