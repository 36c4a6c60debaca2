/** The ids of workflows: which are used, and a free one for a name. Ids are never reused. */
import type { Kysely } from "kysely";
import { workflowIdPrefix } from "../../schemas/project.ts";
import { slugOf } from "../core/slug.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";

/** Maximum length of an id that is derived from a name, in characters. */
const SLUG_LENGTH = 60;
/** Ids that are paths of the API. */
const RESERVED = new Set(["validate"]);

const findId = prepared((db, id: string) => db.selectFrom("workflows").select("id").where("id", "=", id));

/** Whether a new workflow can't have this id. */
export const isIdUsed = async (trx: Kysely<Schema>, id: string): Promise<boolean> =>
  RESERVED.has(id) || (await findId(trx, id)).length > 0;

/**
 * The slug of the name, or a free one of `slug-2`, `slug-3` and so on. Outside of the default project it begins with the
 * id of the project, so that no number shows what other projects have.
 */
export async function findFreeId(trx: Kysely<Schema>, name: string, project: string): Promise<string> {
  const base = slugOf(name, SLUG_LENGTH) || "workflow";
  const slug = `${workflowIdPrefix(project)}${base}`;
  if (!(await isIdUsed(trx, slug))) return slug;
  const isNumberUsed = (number: number): Promise<boolean> => isIdUsed(trx, `${slug}-${number}`);
  // Thousands of workflows may have the same name, so the number is doubled until it is free, then bisected.
  let usedNumber = 1;
  let freeNumber = 2;
  while (await isNumberUsed(freeNumber)) [usedNumber, freeNumber] = [freeNumber, freeNumber * 2];
  while (freeNumber - usedNumber > 1) {
    const middle = Math.floor((usedNumber + freeNumber) / 2);
    if (await isNumberUsed(middle)) usedNumber = middle;
    else freeNumber = middle;
  }
  return `${slug}-${freeNumber}`;
}
