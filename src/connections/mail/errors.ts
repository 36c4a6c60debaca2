/** Converts errors of the SMTP client to step errors, with messages for workflow authors and operators. */
import { StepError } from "../../core/step-errors.ts";
import type { SmtpConfig } from "./transport-options.ts";

interface SmtpFailure {
  code?: string;
  message?: string;
  /** The response of the server. */
  response?: string;
  responseCode?: number;
  /** The command during which it failed; `CONN` for the connection. */
  command?: string;
  syscall?: string;
}

/** Maximum length of a server's message, in characters. */
const MAX_MESSAGE_LENGTH = 300;

/** Returns mail_failed (transient for 4xx and network errors) or environment (passwords, certificates). */
export function mailStepError(thrown: unknown, smtp: SmtpConfig): StepError {
  const { code, message = "", response, responseCode, command, syscall } = thrown as SmtpFailure;
  const server = `${smtp.smtp_server}:${smtp.smtp_port}`;
  const status = responseCode ?? 0;
  const options = { cause: thrown, ...(status > 0 && { details: { smtp_status: status } }) };
  if (status === 0 && isCertificate(thrown))
    return new StepError(
      "environment",
      `The certificate of the mail server ${server} is not trusted: ${message}.`,
      {
        ...options,
        fix:
          "Set NODE_EXTRA_CA_CERTS to the certificate of its authority, and set smtp_server to the name in the certificate; " +
          "or, in a trusted network, set authentication.basic.secure to plain.",
      },
    );
  if (code === LOGIN_REFUSED && (status === 0 || status >= 500))
    return new StepError(
      "environment",
      `The mail server ${server} refused the user and password (${status}).`,
      {
        ...options,
        fix: "Check smtp_user and the variable named by smtp_password_var in authentication.basic.",
      },
    );
  // With 4xx, the server itself says that encryption is not available at the moment.
  if (code === "ETLS" && (status === 0 || status >= 500))
    return new StepError("environment", `The mail server ${server} does not offer an encrypted connection.`, {
      ...options,
      fix: "Use port 465 (secure: tls); or, in a trusted network, set authentication.basic.secure to plain.",
    });
  if (status > 0) {
    const refusal = `The mail server did not accept the mail: ${(response ?? message).slice(0, MAX_MESSAGE_LENGTH)}`;
    return new StepError("mail_failed", refusal, {
      ...options,
      fix: "Check the recipients, and the sender that the server allows.",
      transient: status < 500,
    });
  }
  if (code === "EDNS")
    return new StepError(
      "mail_failed",
      `The host name of the mail server, ${smtp.smtp_server}, does not exist.`,
      { ...options, fix: "Check smtp_server." },
    );
  const wasConnecting = syscall === "connect" || (code === "ETIMEDOUT" && command === "CONN");
  return new StepError(
    "mail_failed",
    `The mail server ${server} cannot be reached, or closed the connection: ${message.slice(0, MAX_MESSAGE_LENGTH)}.`,
    {
      ...options,
      fix: "If the error remains, check smtp_server, smtp_port and the network.",
      ...(!wasConnecting && { unanswered: true }),
    },
  );
}

/** Whether the server refused the password, before a mail was sent. */
export const isLoginRefusal = (error: unknown): boolean =>
  error instanceof StepError &&
  error.code === "environment" &&
  (error.options.cause as SmtpFailure | undefined)?.code === LOGIN_REFUSED;

const LOGIN_REFUSED = "EAUTH";
const CERTIFICATE = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT)/;

function isCertificate(thrown: unknown): boolean {
  for (let here = thrown, depth = 0; here instanceof Error && depth < 5; here = here.cause, depth += 1) {
    const { code = "" } = here as { code?: string };
    if (CERTIFICATE.test(code) || /self[- ]signed|certificate/i.test(here.message)) return true;
  }
  return false;
}
