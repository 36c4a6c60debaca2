/** Applications that people authorize (OAuth): what the key table holds of them, and the state of the protocol. */
import type { Scope } from "../../schemas/actor.ts";
import type { Applied } from "./transactions.ts";

/** The application that a person has authorized: an OAuth client, with a token for one resource. */
export interface KeyApplication {
  clientId: string;
  /** What the consent page showed of where the client is, such as `claude.ai`. */
  host: string;
  /** The resource that its tokens are for, such as `https://millrace.example.com/mcp`. */
  resource: string;
  /** Until when it can renew its token (ISO 8601); the `expiresAt` of the key is the end of the current token. */
  renewableUntil: string;
}

/** The next token of an application. */
interface RenewedToken {
  digest: Buffer;
  lastFour: string;
  scopes: readonly Scope[];
  /** ISO 8601. */
  expiresAt: string;
}

/** The tokens of applications in the key table. Their changes are not audited: they grant nothing new. */
export interface RenewableKeys {
  /** Replaces the token of an application; false when the authorization is revoked or does not exist. */
  renew(id: string, token: RenewedToken): Promise<Applied>;
  /** Sets until when an application can renew its token (ISO 8601). */
  setRenewableUntil(id: string, until: string): Promise<void>;
}

/** A part of the protocol's state, such as `AuthorizationCode`. */
interface OauthState {
  payload: Record<string, unknown>;
  /** When it was used, in milliseconds since 1970; null for never. */
  consumedAt: number | null;
}

/** Shared by all processes. Every state expires, and is found only until then. */
export interface OauthStateStore {
  /** @param digest of the id or of the token, which is stored nowhere */
  find(model: string, digest: Buffer): Promise<OauthState | undefined>;
  /**
   * Inserts a state, or replaces its payload and its end.
   * @param state.expiresAt milliseconds since 1970
   * @param state.atMost maximum number of states of this model that end by then: those that end first make room
   */
  save(
    model: string,
    digest: Buffer,
    state: { payload: Record<string, unknown>; grantId: string | null; expiresAt: number; atMost?: number },
  ): Promise<void>;
  /** Marks a state as used, and keeps it until `keepUntil` at most. Of concurrent callers one gets true. */
  consume(model: string, digest: Buffer, keepUntil: number): Promise<boolean>;
  /** Moves the end of a state to `expiresAt`, if that is later. */
  extend(model: string, digest: Buffer, expiresAt: number): Promise<void>;
  remove(model: string, digest: Buffer): Promise<void>;
  /** Removes the states of a model that belong to a grant. */
  removeByGrant(model: string, grantId: string): Promise<void>;
}
