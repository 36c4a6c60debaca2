/** What a file or a command gives as the value of a secret. */

/** Maximum size of a secret, in bytes. */
export const MAX_SECRET_BYTES = 64 * 1024;

/** A value, or a clause why there is none, which never repeats what was read. */
export type Reading = { value: string } | { problem: string };

/** Decodes a secret, without the line break at its end that most editors and `echo` add. */
export function decodeSecret(bytes: Buffer): Reading {
  if (bytes.length > MAX_SECRET_BYTES) return { problem: `is larger than ${MAX_SECRET_BYTES / 1024} KiB` };
  const value = textOf(bytes)?.replace(/\r?\n$/, "");
  if (value === undefined) return { problem: "is not UTF-8 text" };
  return value === "" ? { problem: "is empty" } : { value };
}

/** Decodes text; undefined for bytes that an environment variable cannot hold. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
