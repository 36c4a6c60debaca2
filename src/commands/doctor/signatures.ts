/** Checks that the secrets of published webhooks have the form of the schemes that they are for. */
import type { Config } from "../../../schemas/config.ts";
import { secretNames } from "../../../schemas/signature.ts";
import { TOP_FIELDS } from "../../../schemas/workflow-definition.ts";
import type { Secrets } from "../../config/secrets.ts";
import { type UnfitSecret, unfitFor } from "../../core/webhook-signatures/secret-forms.ts";
import type { DatabaseInspection } from "../../store/inspect.ts";
import { runValueReader } from "../../store/run-value-reader.ts";
import { type CheckResult, checkResultsOf } from "./check-result.ts";

const { ok, warning, error: failed } = checkResultsOf("Work");

/** Secrets that do not have the form of a scheme, together with others of which the same is true. Values are never part of it. */
export type UnfitSecrets = readonly (UnfitSecret & { names: string[] })[];

/** Maximum number of webhooks that are listed. */
const MAX_LISTED = 20;

/** Reads all secrets, also with the configured command. */
export async function unfitSecrets({ secrets: entries }: Config, secrets: Secrets): Promise<UnfitSecrets> {
  await secrets.loadAll();
  const found = entries.flatMap(({ name, key_var: variable }) => {
    const value = secrets.get(variable);
    return value === undefined ? [] : unfitFor(value).map((unfit) => ({ unfit, name }));
  });
  const groups = Map.groupBy(found, ({ unfit }) => `${unfit.scheme} ${unfit.message}`);
  return [...groups.values()].map((group) => {
    const { scheme, severity, message } = group[0]!.unfit;
    return { scheme, severity, message, names: group.map(({ name }) => name) };
  });
}

/** @param unfit of the secrets whose values are known here */
export async function checkSignatures(
  read: DatabaseInspection["read"],
  unfit: UnfitSecrets,
): Promise<CheckResult[]> {
  const triggers = await read
    .selectFrom("triggers")
    .select(["workflow_id", "version", "name"])
    .where("removed", "=", 0)
    .orderBy("workflow_id")
    .orderBy("name")
    .execute();
  const { versionDefinition } = runValueReader(read);
  const results: CheckResult[] = [];
  for (const { workflow_id: workflow, version, name } of triggers) {
    if (results.length >= MAX_LISTED) break;
    const definition = await versionDefinition(workflow, version);
    const declared = TOP_FIELDS.triggers.safeParse(definition?.["triggers"]).data ?? [];
    const signature = declared.find(({ id }) => id === name)?.signature;
    for (const secret of signature === undefined ? [] : secretNames(signature)) {
      const found = unfit.find(({ scheme, names }) => scheme === signature!.scheme && names.includes(secret));
      if (found !== undefined)
        results.push(
          (found.severity === "error" ? failed : warning)(
            "webhooks",
            `the secret ${secret} of ${workflow}, trigger ${name}, ${found.message}`,
            "Copy the secret from the sender's settings once more.",
          ),
        );
    }
  }
  if (results.length > 0 || triggers.length === 0) return results;
  return [ok("webhooks", "no secret is known that does not have the form of its scheme")];
}
