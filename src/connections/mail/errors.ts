/** Failures of the SMTP client in the words of who wrote the workflow, or of who runs the service. */
import { StepError } from "../../core/step-errors.ts";
import type { SmtpConfig } from "./transport-options.ts";

interface SmtpFailure {
  code?: string;
  message?: string;
  /** The server's own words. */
  response?: string;
  responseCode?: number;
}

const LONGEST = 300;

/** A failure as mail_failed (4xx and broken connections may go away, 5xx do not) or environment (keys, certificates). */
export function mailStepError(thrown: unknown, smtp: SmtpConfig): StepError {
  const { code, message = "", response, responseCode } = thrown as SmtpFailure;
  const server = `${smtp.smtp_server}:${smtp.smtp_port}`;
  const status = responseCode ?? 0;
  const options = { cause: thrown, ...(status > 0 && { details: { smtp_status: status } }) };
  if (status === 0 && isCertificate(thrown))
    return new StepError(
      "environment",
      `The mail server ${server} shows a certificate that is not trusted: ${message}.`,
      {
        ...options,
        fix:
          "Give the certificate of its authority in the environment variable NODE_EXTRA_CA_CERTS and name the server as its certificate does; " +
          "or, in a network that you trust, set authentication.basic.secure: plain.",
      },
    );
  if (code === "EAUTH" && (status === 0 || status >= 500))
    return new StepError(
      "environment",
      `The mail server ${server} refused the user and password (${status}).`,
      {
        ...options,
        fix: "Check smtp_user and the variable that smtp_password_var of authentication.basic names.",
      },
    );
  // 4xx: it says itself that it can't encrypt just now.
  if (code === "ETLS" && (status === 0 || status >= 500))
    return new StepError("environment", `The mail server ${server} does not offer an encrypted connection.`, {
      ...options,
      fix: "Use port 465 (secure: tls); or, in a network that you trust, set authentication.basic.secure: plain.",
    });
  if (status > 0) {
    const said = `The mail server did not take the mail: ${(response ?? message).slice(0, LONGEST)}`;
    return new StepError("mail_failed", said, { ...options, transient: status < 500 });
  }
  if (code === "EDNS")
    return new StepError(
      "mail_failed",
      `The name of the mail server ${smtp.smtp_server} is not known.`,
      options,
    );
  return new StepError(
    "mail_failed",
    `The mail server ${server} can't be reached or broke off: ${message.slice(0, LONGEST)}.`,
    options,
  );
}

const CERTIFICATE = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT)/;

function isCertificate(thrown: unknown): boolean {
  for (let here = thrown, depth = 0; here instanceof Error && depth < 5; here = here.cause, depth += 1) {
    const { code = "" } = here as { code?: string };
    if (CERTIFICATE.test(code) || /self[- ]signed|certificate/i.test(here.message)) return true;
  }
  return false;
}
