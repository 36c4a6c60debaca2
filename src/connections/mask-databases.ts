/** Removes secrets from what databases return: their own password, which a server may show, or one that a table contains. */
import type { Databases } from "../core/connections.ts";
import { StepError } from "../core/step-errors.ts";
import type { Masker } from "./masking.ts";
import { maskedError } from "./secret-masker.ts";

/** @returns the same databases, whose rows, samples and errors contain no secret that `mask` finds */
export function maskDatabases(databases: Databases, mask: Masker): Databases {
  async function masked<T>(work: Promise<T>): Promise<T> {
    try {
      return mask.json(await work) as T;
    } catch (error) {
      throw error instanceof StepError ? maskedError(error, mask) : error;
    }
  }
  return {
    ...databases,
    query: (request, call) => masked(databases.query(request, call)),
    prepare: (request, call) => masked(databases.prepare(request, call)),
    describe: (name, options, call) => masked(databases.describe(name, options, call)),
  };
}
