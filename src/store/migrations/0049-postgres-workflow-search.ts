import type { Kysely } from "kysely";
import { createPostgresWorkflowSearch } from "../dialect.ts";

/** The index of the texts of workflows that SQLite has since migration 31. */
export const up = (db: Kysely<never>): Promise<void> => createPostgresWorkflowSearch(db);
