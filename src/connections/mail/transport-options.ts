import type { Config } from "../../../schemas/config.ts";
import { SECOND } from "../../core/clock.ts";
import { isLoopback } from "../../core/hosts.ts";

export type SmtpConfig = NonNullable<Config["authentication"]["basic"]>;

/** How the server is talked to. A password never crosses a network in the clear unless the operator said so. */
export function transportOptions(smtp: SmtpConfig, password: string) {
  const { smtp_server: host, smtp_port: port, smtp_user: user } = smtp;
  const wanted = smtp.secure ?? (port === 465 ? "tls" : isLoopback(host) ? undefined : "starttls");
  return {
    host,
    port,
    secure: wanted === "tls",
    requireTLS: wanted === "starttls",
    ignoreTLS: wanted === "plain",
    auth: { user, pass: password },
    connectionTimeout: 10 * SECOND,
    greetingTimeout: 10 * SECOND,
    // The step's own time-out ends it before; this is for a server that never answers a step without one.
    socketTimeout: 120 * SECOND,
  };
}
