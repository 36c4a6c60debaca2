/** Repeats recorded calls on a new instance, whose ids and ports differ. */
import { idsOf } from "./recorder.ts";
import type { Transcript } from "./transcript.ts";
import type { Trial } from "./trial.ts";

/** Thrown where the new instance does not answer as the recorded one did. */
export class ReplayDiffers extends Error {}

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Replaces texts in one pass, so that no replacement is replaced in turn. */
function replaceAll(text: string, replacements: ReadonlyMap<string, string>): string {
  if (replacements.size === 0) return text;
  const any = new RegExp([...replacements.keys()].map(escapePattern).join("|"), "g");
  return text.replaceAll(any, (from) => replacements.get(from)!);
}

/**
 * Repeats the calls of a transcript in their order.
 * @throws ReplayDiffers if a call is refused now that was accepted. One that is accepted now goes on: the outcome is judged.
 */
export async function replay(trial: Trial, { calls, hosts }: Transcript): Promise<void> {
  const replacements = new Map(hosts.map((host, index) => [host, trial.hosts[index] ?? host]));
  for (const [index, { tool, arguments: recorded, error, ids = {} }] of calls.entries()) {
    const args = JSON.parse(replaceAll(JSON.stringify(recorded), replacements)) as Record<string, unknown>;
    const answer = await trial.recorder.call(tool, args);
    if (answer.error && !error)
      throw new ReplayDiffers(
        `Call ${index + 1} (${tool}) was accepted when it was recorded, and now: ${answer.text.slice(0, 500)}`,
      );
    const now = idsOf(answer.text);
    for (const [pointer, id] of Object.entries(ids)) {
      const replacement = now.get(pointer);
      if (replacement !== undefined && replacement !== id) replacements.set(id, replacement);
    }
  }
}
