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
  /** @throws AppError connection_failed, with a message for admins */
  send(mail: AccountMail, signal?: AbortSignal): Promise<void>;
}
