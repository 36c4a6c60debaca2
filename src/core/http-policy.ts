/** Where http steps may send requests (egress). */

/**
 * Limits a call in addition to the configuration: a host is reached only if both allow it, so a policy can only be stricter.
 * Patterns are those of `http.allowed_hosts`: `host`, `host:port`, `*.example.com`, `[::1]:8080`.
 */
export interface HttpPolicy {
  /** Which public hosts: none, those of `publicHosts`, or any. */
  public: "none" | "list" | "any";
  /** Patterns of public hosts, for `list`. */
  publicHosts: readonly string[];
  /** Patterns of the hosts that may have a private address. */
  privateHosts: readonly string[];
}
