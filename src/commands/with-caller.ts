/** Chooses where the operations of a command run. */
import type { Caller } from "./caller.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import type { OperatorOptions } from "./operator.ts";
import { remoteServer } from "./remote/server.ts";

/**
 * Does `work` on the state of this machine, or on the server that MILLRACE_URL names.
 * @throws ConfigError if the server or the key can't be used
 */
export async function withCaller<T>(
  io: Io,
  options: Pick<OperatorOptions, "config" | "requiresStateFor">,
  work: (caller: Caller) => Promise<T>,
): Promise<T> {
  const server = remoteServer(io.env);
  // Loaded here, because a command that calls a server elsewhere needs no store and no engine.
  if (server === undefined) {
    const [{ withOperator }, { localCaller }] = [
      await import("./operator.ts"),
      await import("./local-caller.ts"),
    ];
    return withOperator(io, options, (operator) => work(localCaller(operator)));
  }
  assertNoConfig(options.config);
  const { remoteCaller } = await import("./remote/remote-caller.ts");
  return work(remoteCaller(server));
}

/** @throws CommandError for an option that has no meaning for a server elsewhere */
export function assertNoConfig(config: string | undefined): void {
  if (config === undefined) return;
  throw new CommandError(
    "--config names a configuration of this machine, but MILLRACE_URL is set, and that server has its own. " +
      "Leave out --config, or unset MILLRACE_URL.",
    EXIT.usage,
  );
}
