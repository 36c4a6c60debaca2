/** Finds databases by the names that requests give. */
import { AppError } from "../../src/core/errors.ts";
import { nearMatch } from "../../src/core/near-match.ts";

/** @throws AppError database_not_found with the names of those that exist */
export function assertDatabaseExists(name: string, names: readonly string[]): void {
  if (names.includes(name)) return;
  const near = nearMatch(name, names);
  throw new AppError(
    "database_not_found",
    `There is no database "${name}" in the configuration. ` +
      (near === undefined
        ? names.length === 0
          ? "No database is configured: the operator adds them under `databases`."
          : `Configured are ${names.join(", ")}.`
        : `Did you mean "${near}"?`),
    {
      errors: [
        {
          path: "database",
          code: "not_found",
          message: "is not the name of a database",
          allowed: [...names],
          ...(near !== undefined && { did_you_mean: near }),
        },
      ],
    },
  );
}
