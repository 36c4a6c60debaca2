import type { Bookmarks } from "../../schemas/bookmarks.ts";
import type { Readers } from "../../src/core/ports.ts";
import type { WorkflowBrief } from "../../src/core/workflow-ports.ts";

/** What a person has marked, without workflows that they can't see. */
export async function serializeBookmarks(
  read: Pick<Readers, "bookmarks" | "workflows">,
  owner: string,
): Promise<Bookmarks> {
  const favorites = await read.workflows.briefs(await read.bookmarks.favorites(owner));
  return {
    favorites: favorites.map(serializeFavorite),
    views: await read.bookmarks.views(owner),
  };
}

const serializeFavorite = ({ id, ...brief }: WorkflowBrief): Bookmarks["favorites"][number] => ({
  workflow_id: id,
  ...brief,
});
