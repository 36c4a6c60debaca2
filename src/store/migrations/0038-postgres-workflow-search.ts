import type { Kysely } from "kysely";
import { createPostgresWorkflowSearch } from "../dialect.ts";

/** Indexes the texts of workflows in PostgreSQL. SQLite has such an index since migration 31. */
export const up = (db: Kysely<never>): Promise<void> => createPostgresWorkflowSearch(db);
