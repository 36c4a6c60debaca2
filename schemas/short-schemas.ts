/** Short forms of schemas for `tools/list`, which every agent reads in full: the details are in another tool or in the guide. */
import { z } from "zod";

/** The JSON Schema that the list shows instead of the schema's own. The whole schema checks the arguments. */
export const shortSchemas = z.registry<Record<string, unknown>>();
