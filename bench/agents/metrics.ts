/** The figures of one solved or unsolved task. */
import type { Recorder, RecordedCall } from "./recorder.ts";

/** A token has about four characters; the tests of the sizes of answers count in the same way. */
const CHARS_PER_TOKEN = 4;

export interface Figures {
  calls: number;
  /** Characters that the agent has read: instructions, tools/list and all answers. */
  read: number;
  /** Those of the answers alone. */
  answers: number;
  /** Definitions that were sent: created, changed or validated. */
  drafts: number;
  /** Whether the first of them had no issue; undefined without a draft. */
  firstDraftValid: boolean | undefined;
  /** Mails, writing requests and writing tool calls before the first version was published, and by publishing it. */
  effectsBeforePublishing: number;
}

const DRAFTING: Readonly<Record<string, readonly string[]>> = {
  create_workflow: ["definition", "from"],
  update_workflow: ["definition", "patch"],
  validate_workflow: ["definition"],
};

const isDraft = ({ tool, arguments: args }: RecordedCall): boolean =>
  (DRAFTING[tool] ?? []).some((field) => args[field] !== undefined && args[field] !== null);

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function isValid({ error, text }: RecordedCall): boolean {
  if (error) return false;
  const { valid, issues } = parse(text);
  return valid === true || (valid === undefined && Array.isArray(issues) && issues.length === 0);
}

export function figuresOf({ calls, instructions, toolsSize }: Recorder): Figures {
  const drafts = calls.filter(isDraft);
  const answers = calls.reduce((sum, { text }) => sum + text.length, 0);
  const published = calls.find(({ tool, error }) => tool === "publish_workflow" && !error) ?? calls.at(-1);
  return {
    calls: calls.length,
    read: instructions.length + toolsSize + answers,
    answers,
    drafts: drafts.length,
    firstDraftValid: drafts[0] && isValid(drafts[0]),
    effectsBeforePublishing: published?.effects ?? 0,
  };
}

export const tokens = (characters: number): number => Math.ceil(characters / CHARS_PER_TOKEN);
