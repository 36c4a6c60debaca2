/** Asks before a command changes something. */
import { CommandError, EXIT } from "./io.ts";

export interface ConfirmHost {
  /** Asks the person at the terminal; undefined without a terminal. */
  ask(question: string): Promise<string | undefined>;
}

/** @throws CommandError unless the person at the terminal says yes */
export async function confirm(host: ConfirmHost, question: string, done: string): Promise<void> {
  const answer = await host.ask(`${question} [y/N] `);
  if (answer === undefined)
    throw new CommandError(
      `Nothing was ${done}: there is no terminal to confirm it at. Use --yes.`,
      EXIT.usage,
    );
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandError(`Nothing was ${done}.`);
}
