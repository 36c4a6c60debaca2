/** Describes the changes between two versions of a workflow, except those of the definition, which the diff shows. */
import * as texts from "#texts/workflows";
import type { Workflow } from "../../../schemas/workflow.ts";

type Content = Pick<Workflow, "name" | "description" | "tags" | "definition">;

/** @returns one sentence per changed field */
export function describeChanges(before: Content, after: Content): string[] {
  const added = after.tags.filter((tag) => !before.tags.includes(tag));
  const removed = before.tags.filter((tag) => !after.tags.includes(tag));
  const isReordered = added.length + removed.length === 0 && before.tags.join("\n") !== after.tags.join("\n");
  return [
    before.name !== after.name && texts.nameChanged({ before: before.name, after: after.name }),
    before.description !== after.description && descriptionChange(before.description, after.description),
    added.length > 0 && texts.tagsAdded({ count: added.length, tags: quoted(added) }),
    removed.length > 0 && texts.tagsRemoved({ count: removed.length, tags: quoted(removed) }),
    isReordered && texts.tagsReordered,
  ].filter((sentence) => sentence !== false);
}

function descriptionChange(before: string, after: string): string {
  if (before === "") return texts.descriptionAdded({ after });
  return after === "" ? texts.descriptionRemoved({ before }) : texts.descriptionChanged({ before, after });
}

const quoted = (tags: readonly string[]): string => tags.map((tag) => texts.quoted({ text: tag })).join(", ");

/** Whether two definitions are equal, regardless of the order of keys. */
export const isSameDefinition = (a: Content["definition"], b: Content["definition"]): boolean =>
  canonical(a ?? null) === canonical(b ?? null);

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
