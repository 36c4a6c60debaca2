/** Checks the variables that hold secrets: that each has a value, and that not every user can read their files. */
import type { Config } from "../../../schemas/config.ts";
import type { Secrets } from "../../config/secrets.ts";
import { namedVariables } from "../../core/secret-variables.ts";
import { plural } from "../plural.ts";
import { checkResultsOf, type CheckResult } from "./check-result.ts";

const { ok, warning } = checkResultsOf("Configuration");

/** Reads all secrets, also with the configured command. The results never have a value. */
export async function checkSecrets(config: Config, secrets: Secrets): Promise<CheckResult[]> {
  await secrets.loadAll();
  const named = Map.groupBy(namedVariables(config), ({ variable }) => variable);
  const missing = [...named].flatMap(([variable, entries]) => {
    const reason = secrets.missingReason(variable);
    if (reason === null) return [];
    const users = [...new Set(entries.map(({ entry }) => entry))].join(", ");
    return warning(
      "secrets",
      `${reason}; it is needed by ${users}`,
      "Set the variable or its file where the servers are started, or run secret_command by hand as the user of the servers. Workflows that need it cannot run.",
    );
  });
  const exposed = secrets
    .exposedFiles()
    .map(({ variable, path }) =>
      warning(
        "secrets",
        `every user of this machine can read ${path} (${variable}_FILE)`,
        "Remove that permission: chmod o-r, or defaultMode: 0440 of a Kubernetes volume.",
      ),
    );
  const count = named.size - missing.length;
  const found = count === 0 ? [] : [ok("secrets", `${plural(count, "variable")} with a value`)];
  return [...found, ...missing, ...exposed];
}
