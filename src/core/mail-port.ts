/** A mail to a user about their account. */
export interface AccountMail {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** The same for a mail that is sent again: its Message-ID is derived from it. Without one the Message-ID is random. */
  idempotencyKey?: string | undefined;
}

export interface AccountMailer {
  /** Whether a mail server is configured; it may still be unreachable. */
  configured: boolean;
  /** @throws AppError connection_failed, with a message for admins */
  send(mail: AccountMail, signal?: AbortSignal): Promise<void>;
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
