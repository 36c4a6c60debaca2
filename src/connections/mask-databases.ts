/** Removes secrets from what databases return: their own password, which a server may show, or one that a table contains. */
import type { Databases } from "../core/connections.ts";
import { StepError } from "../core/step-errors.ts";
import type { Masker } from "./masking.ts";
import { maskedError } from "./secret-masker.ts";

/** @returns the same databases, whose rows, samples and errors contain no secret that `mask` finds */
export function maskDatabases(databases: Databases, mask: Masker): Databases {
  async function withMaskedErrors<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw error instanceof StepError ? maskedError(error, mask) : error;
    }
  }
  return {
    ...databases,
    async query(request, call) {
      const result = await withMaskedErrors(databases.query(request, call));
      return { ...result, rows: mask.json(result.rows) as typeof result.rows };
    },
    async prepare(request, call) {
      const result = await withMaskedErrors(databases.prepare(request, call));
      if (!("issues" in result)) return result;
      return {
        ...result,
        issues: result.issues.map((issue) => Object.assign({}, issue, { message: mask.text(issue.message) })),
      };
    },
    async describe(name, options, call) {
      const tables = await withMaskedErrors(databases.describe(name, options, call));
      return tables.map((table) =>
        table.sample === undefined
          ? table
          : Object.assign({}, table, { sample: mask.json(table.sample) as typeof table.sample }),
      );
    },
  };
}
