/** The recorded calls of one agent on one task, small enough to keep in the repository. */
import { readFileSync } from "node:fs";
import { z } from "zod";

const Call = z.strictObject({
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  /** Whether the server refused it. */
  error: z.boolean(),
  /** Texts of the answer that later calls contain, by their place (JSON Pointer): ids, which differ in every instance. */
  ids: z.record(z.string(), z.string()).optional(),
});

export const Transcript = z.strictObject({
  task: z.string(),
  /** Who or what made the calls. */
  agent: z.string(),
  /** The date, such as 2026-11-23. */
  recorded: z.string(),
  /** `host:port` of the services around it. */
  hosts: z.array(z.string()),
  calls: z.array(Call),
});
export type Transcript = z.infer<typeof Transcript>;

/** @throws an error that names the file, if it is not a transcript */
export function readTranscript(file: string): Transcript {
  const parsed = Transcript.safeParse(JSON.parse(readFileSync(file, "utf8")));
  if (!parsed.success) throw new Error(`${file} is no transcript: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
