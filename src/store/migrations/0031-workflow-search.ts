import type { Kysely } from "kysely";
import { createWorkflowSearch } from "../dialect.ts";

/** An index of the texts of workflows, so that a search does not read all of them. */
export const up = (db: Kysely<never>): Promise<void> => createWorkflowSearch(db);
