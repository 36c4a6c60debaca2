/** The texts that searches compare, folded, because `lower` of both databases knows only the letters of ASCII or of one language. */
import { foldText, isAscii } from "../../schemas/fold-text.ts";
import type { WorkflowContent } from "../core/ports.ts";

/** Surrounds each tag, and is in no other text, so that a part of a text is not taken for a tag. */
const TAG_MARK = "\u001F";

/** How the search text of a workflow contains a tag. */
export const markedTag = (tag: string): string => `${TAG_MARK}${foldText(tag)}${TAG_MARK}`;

/** The search text of a workflow. Search terms contain no line break, so none matches across two of its texts. */
export const workflowSearchText = (
  id: string,
  { name, tags, description }: Pick<WorkflowContent, "name" | "tags" | "description">,
): string => [id, foldText(name), ...tags.map(markedTag), foldText(description)].join("\n");

/** What of an entry of the audit log is searched. */
export interface SearchedEntry {
  operation: string;
  target: string | null;
  owner: string;
  keyName: string | null;
  client: string;
}

/** The search text of an entry; null where it is ASCII, which the database folds itself. */
export function auditSearchText({ operation, target, owner, keyName, client }: SearchedEntry): string | null {
  const text = [operation, target ?? "", owner, keyName ?? "", client].join("\n");
  return isAscii(text) ? null : foldText(text);
}
