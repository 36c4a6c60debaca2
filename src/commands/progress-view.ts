/** Shows the progress of work that a command waits for. */
import type { Progress } from "../core/tool.ts";
import type { Io } from "./io.ts";

/** Shows progress on standard error: a line that is redrawn on a terminal, else one for each tenth. */
export function progressView(io: Io): (progress: Progress) => void {
  let shown: string | undefined;
  return ({ done, total, message }) => {
    const key = io.errTerminal ? message : String(Math.floor((10 * done) / total));
    if (key === shown) return;
    if (io.errTerminal && shown !== undefined) io.eraseLines?.(1);
    shown = key;
    io.err(`${message}\n`);
  };
}
