import type { Config } from "../../../schemas/config.ts";
import { SECOND } from "../../core/clock.ts";
import { isLoopback } from "../../core/hosts.ts";

export type TransportOptions = ReturnType<typeof transportOptions>;
export type SmtpConfig = NonNullable<Config["authentication"]["basic"]>;

/** Connection options. A password is sent unencrypted over a network only if the operator has configured that. */
export function transportOptions(smtp: SmtpConfig, password: string) {
  const { smtp_server: host, smtp_port: port, smtp_user: user } = smtp;
  const encryption = smtp.secure ?? (port === 465 ? "tls" : isLoopback(host) ? undefined : "starttls");
  return {
    host,
    port,
    secure: encryption === "tls",
    requireTLS: encryption === "starttls",
    ignoreTLS: encryption === "plain",
    auth: { user, pass: password },
    connectionTimeout: 10 * SECOND,
    greetingTimeout: 10 * SECOND,
    // For steps without a timeout of their own.
    socketTimeout: 120 * SECOND,
  };
}
