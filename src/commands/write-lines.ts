/** Writes lines of JSON to a new file, which is complete or does not exist. */
import { once } from "node:events";
import { createWriteStream, existsSync, renameSync, rmSync } from "node:fs";
import { finished } from "node:stream/promises";
import { fileProblem } from "./file-problem.ts";
import { CommandError, EXIT } from "./io.ts";

/** @throws CommandError when the file exists */
export function assertNewFile(file: string): void {
  if (existsSync(file))
    throw new CommandError(`${file} already exists. Nothing was written. Choose another name.`, EXIT.usage);
}

/**
 * Writes to `<file>.part` first, so that an incomplete file never has the final name. Only this user can read it.
 * @throws CommandError when it can't be written
 */
export async function writeLines(file: string, lines: AsyncIterable<object>): Promise<void> {
  const part = `${file}.part`;
  // "wx": a second command that writes the same file fails here.
  const out = createWriteStream(part, { flags: "wx", mode: 0o600 });
  await once(out, "open").catch((error: Error) => {
    throw new CommandError(`${part} cannot be written: ${fileProblem(error)}.`, EXIT.usage);
  });
  try {
    for await (const line of lines) if (!out.write(`${JSON.stringify(line)}\n`)) await once(out, "drain");
    out.end();
    await finished(out);
    renameSync(part, file);
  } catch (error) {
    out.destroy();
    rmSync(part, { force: true });
    if ((error as NodeJS.ErrnoException).code === "ENOSPC")
      throw new CommandError(`The disk is full. ${file} was not written. Free some space, then try again.`);
    throw error;
  }
}
