/** Writes what does not fit into memory, part by part: to a new file, which is complete or does not exist, or to standard output. */
import { once } from "node:events";
import { createWriteStream, existsSync, renameSync, rmSync } from "node:fs";
import { finished } from "node:stream/promises";
import { CommandError, EXIT, type Io } from "./io.ts";

/** @throws CommandError when the file exists */
export function assertNewFile(file: string): void {
  if (existsSync(file))
    throw new CommandError(`${file} already exists. Nothing was written. Choose another name.`, EXIT.usage);
}

/** Each value as a line of JSON. */
export async function* jsonLines(values: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`;
}

/**
 * Writes texts to a new file, or without one to standard output, as fast as they are read there.
 * @throws CommandError when the file can't be written
 */
export async function writeOutput(
  io: Io,
  file: string | undefined,
  texts: AsyncIterable<string>,
): Promise<void> {
  if (file !== undefined) return writeTexts(file, texts);
  for await (const text of texts) {
    io.out(text);
    await io.outDrained?.();
  }
}

/** Writes lines of JSON to a new file. @throws CommandError when it can't be written */
export const writeLines = (file: string, lines: AsyncIterable<object>): Promise<void> =>
  writeTexts(file, jsonLines(lines));

/** Writes to `<file>.part` first, so that an incomplete file never has the final name. Only this user can read it. */
async function writeTexts(file: string, texts: AsyncIterable<string>): Promise<void> {
  const part = `${file}.part`;
  // "wx": a second command that writes the same file fails here.
  const out = createWriteStream(part, { flags: "wx", mode: 0o600 });
  await once(out, "open").catch((error: Error) => {
    throw new CommandError(`${part} cannot be written: ${error.message}`, EXIT.usage);
  });
  // Without a listener, an error while the next text is read would end the process.
  out.on("error", () => {});
  try {
    for await (const text of texts) {
      if (out.errored !== null) throw out.errored;
      if (!out.write(text)) await once(out, "drain");
    }
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
