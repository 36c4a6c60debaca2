/** Lists, searches and counts workflows. */
import type { Kysely, SelectQueryBuilder } from "kysely";
import { MAX_FOUND } from "../../schemas/page.ts";
import { foldText, searchTerms } from "../../schemas/fold-text.ts";
import type { Visibility } from "../core/access.ts";
import type { WorkflowFilter, WorkflowReader, WorkflowSort } from "../core/ports.ts";
import { cappedCount } from "./capped-count.ts";
import { arrayContains, contains, isOneOf, workflowsThatMayContain } from "./dialect.ts";
import type { Schema } from "./schema.ts";
import { markedTag } from "./search-text.ts";
import { visibleRows } from "./visibility.ts";

/**
 * Maximum number of workflows that the search index finds for a page. If there are more, reading them in order until the page is
 * full is faster.
 */
const MAX_PAGE_CANDIDATES = 1_000;
/** The same for a count, which is certain to stop there if few of them are archived or in other projects. */
const MAX_COUNT_CANDIDATES = 2_000;

const SORT_COLUMN = { created_at: "created_at", updated_at: "updated_at", name: "name_key" } as const;

export const ofVisible = (visibility: Visibility | null) =>
  visibleRows(visibility, { project: "workflows.project", workflow: "workflows.id" });

export function sortOf(sort: WorkflowSort) {
  const descending = sort.startsWith("-");
  const column = SORT_COLUMN[(descending ? sort.slice(1) : sort) as keyof typeof SORT_COLUMN];
  return {
    column,
    direction: descending ? ("desc" as const) : ("asc" as const),
    beyond: descending ? ("<" as const) : (">" as const),
  };
}

type Query = SelectQueryBuilder<Schema, "workflows", object>;

/** Selects the workflows of a filter, in no order. @param possible only of these; undefined for all */
function filtered(
  db: Kysely<Schema>,
  { search, tag, ids, status, project, visibility = null }: WorkflowFilter,
  possible: readonly string[] | undefined,
): Query {
  let out: Query = db.selectFrom("workflows");
  if (status !== undefined) out = out.where("workflows.status", "=", status);
  else if (ids === undefined) out = out.where("workflows.status", "!=", "archived");
  for (const some of [ids, possible])
    if (some !== undefined) out = out.where((eb) => isOneOf(eb.ref("workflows.id"), JSON.stringify(some)));
  if (project !== undefined) out = out.where("workflows.project", "=", project);
  for (const condition of ofVisible(visibility)) out = out.where(condition);
  // Every search term must occur, in any order.
  for (const word of searchTerms(search ?? ""))
    out = out.where((eb) => contains(eb.ref("workflows.search_text"), word));
  // A text that an older release wrote has its tags without marks: there the tag is found as it is written.
  if (tag !== undefined)
    out = out.where((eb) =>
      eb.or([
        contains(eb.ref("workflows.search_text"), markedTag(tag)),
        arrayContains(eb.ref("workflows.tags"), tag),
      ]),
    );
  return out;
}

/**
 * What the search texts of all workflows of a filter contain: one list of words, or two where an older release wrote the tag in another
 * spelling.
 */
function wordsOf({ search, tag }: WorkflowFilter): string[][] {
  const terms = searchTerms(search ?? "");
  const spellings = tag === undefined ? [] : [...new Set([foldText(tag), tag.toLowerCase()])];
  return spellings.length === 0 ? [terms] : spellings.map((spelling) => terms.concat(spelling));
}

/** At least `limit` ids of workflows, or all that may be of a filter; undefined if no index finds them. */
async function idsThatMayMatch(
  db: Kysely<Schema>,
  filter: WorkflowFilter,
  limit: number,
): Promise<string[] | undefined> {
  const found = new Set<string>();
  for (const words of wordsOf(filter)) {
    const ids = await workflowsThatMayContain(db, words, limit);
    if (ids === undefined) return undefined;
    for (const id of ids) found.add(id);
  }
  return [...found];
}

/** The ids of workflows among which are all of a filter; undefined if they are many, or no index finds them. */
async function candidates(
  db: Kysely<Schema>,
  filter: WorkflowFilter,
  limit: number,
): Promise<string[] | undefined> {
  const found = await idsThatMayMatch(db, filter, limit + 1);
  return found === undefined || found.length > limit ? undefined : found;
}

/** Selects a page of workflows, and one more, which shows whether there is a next page. */
export async function pageOfWorkflows(
  db: Kysely<Schema>,
  { filter, sort, after, limit }: Parameters<WorkflowReader["page"]>[0],
): Promise<Query> {
  const { column, direction, beyond } = sortOf(sort);
  const path = `workflows.${column}` as const;
  let out = filtered(db, filter, await candidates(db, filter, MAX_PAGE_CANDIDATES));
  if (after !== null) {
    const [value, id] = after;
    out = out.where((eb) => eb(eb.refTuple(path, "workflows.id"), beyond, eb.tuple(value, id)));
  }
  return out
    .orderBy(path, direction)
    .orderBy("workflows.id", direction)
    .limit(limit + 1);
}

/** Counts the workflows of a filter, up to `MAX_COUNTED`, or to `MAX_FOUND` and one with a search or a tag. */
export async function countWorkflows(db: Kysely<Schema>, filter: WorkflowFilter): Promise<number> {
  if (searchTerms(filter.search ?? "").length === 0 && filter.tag === undefined)
    return cappedCount(db, filtered(db, filter, undefined));
  const found = await idsThatMayMatch(db, filter, MAX_COUNT_CANDIDATES);
  if (found !== undefined) {
    const count = await cappedCount(db, filtered(db, filter, found), MAX_FOUND + 1);
    if (found.length < MAX_COUNT_CANDIDATES || count > MAX_FOUND) return count;
  }
  return cappedCount(db, filtered(db, filter, undefined), MAX_FOUND + 1);
}
