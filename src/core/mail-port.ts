/** Mail to people about their accounts. */
export interface AccountMail {
  /** One address. */
  to: string;
  subject: string;
  text: string;
  html: string;
}

export interface AccountMailer {
  /** Whether a mail server is configured; whether it answers is seen when something is sent. */
  configured: boolean;
  /** @throws AppError connection_failed, in words for an admin */
  send(mail: AccountMail, signal?: AbortSignal): Promise<void>;
}
