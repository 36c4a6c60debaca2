import type { CallContext } from "./connections.ts";

/** A mail to a user about their account. */
export interface AccountMail {
  to: string;
  subject: string;
  text: string;
  html: string;
}

export interface AccountMailer {
  /** Whether a mail server is configured; it may still be unreachable. */
  configured: boolean;
  /**
   * @param call whose turn it is; left out, that of the recipient
   * @throws AppError connection_failed, with a message for admins
   */
  send(mail: AccountMail, call?: Partial<CallContext>): Promise<void>;
}

/** A mail that asks people to open a page. */
export interface Notice {
  subject: string;
  /** Paragraphs before the link. */
  text: readonly string[];
  /** Lines after it, as they are written. */
  details: string;
  button: string;
  url: string;
}
