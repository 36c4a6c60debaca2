/** Checks that the secrets of published webhooks have the form of the schemes that they are for. */
import { z } from "zod";
import type { Config } from "../../../schemas/config.ts";
import { secretNames, Signature } from "../../../schemas/signature.ts";
import type { Trigger } from "../../../schemas/trigger.ts";
import { TOP_FIELDS } from "../../../schemas/workflow-definition.ts";
import type { Secrets } from "../../config/secrets.ts";
import {
  type SecretForm,
  secretFormOf,
  type UnfitSecret,
  unfitFor,
} from "../../core/webhook-signatures/secret-forms.ts";
import type { DatabaseInspection } from "../../store/inspect.ts";
import { runValueReader } from "../../store/run-value-reader.ts";
import { plural } from "../plural.ts";
import { type CheckResult, checkResultsOf } from "./check-result.ts";

const { ok, warning, error: failed } = checkResultsOf("Work");

/** Secrets that do not have the form of a scheme, together with others of which the same is true. Values are never part of it. */
export type UnfitSecrets = readonly (UnfitSecret & { names: string[] })[];

/** Maximum number of secrets that are listed. */
const MAX_LISTED = 20;
/** What of a step can have a signature. */
const Steps = z.array(
  z.object({
    id: z.string(),
    event: z.object({ signature: Signature.optional() }).optional().catch(undefined),
  }),
);

/** Reads all secrets, also with the configured command. */
export async function unfitSecrets({ secrets: entries }: Config, secrets: Secrets): Promise<UnfitSecrets> {
  await secrets.loadAll();
  const found = entries.flatMap(({ name, key_var: variable }) => {
    const value = secrets.get(variable);
    return value === undefined ? [] : unfitFor(value).map((unfit) => ({ unfit, name }));
  });
  const groups = Map.groupBy(found, ({ unfit }) => `${unfit.scheme} ${unfit.message}`);
  return [...groups.values()].map((group) =>
    Object.assign({}, group[0]!.unfit, { names: group.map(({ name }) => name) }),
  );
}

/** A secret that a definition names, and for what. */
interface NamedSecret {
  secret: string;
  scheme: SecretForm;
  /** `trigger pushed` */
  place: string;
  /** Whether it is compared with a text that is in no header, so that its characters don't matter. */
  isToken?: true;
}

/** The secrets of the triggers and the waiting steps of a definition. */
function namedSecrets(
  definition: Readonly<Record<string, unknown>>,
  triggers: ReadonlySet<string>,
): NamedSecret[] {
  const declared = TOP_FIELDS.triggers.safeParse(definition["triggers"]).data ?? [];
  const steps = Steps.safeParse(definition["steps"]).data ?? [];
  return [
    ...declared
      .filter(({ id }) => triggers.has(id))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .flatMap(({ id, signature, handshake }) =>
        secretsOf(signature, `trigger ${id}`).concat(tokenOf(handshake, `handshake of ${id}`)),
      ),
    ...steps.flatMap(({ id, event }) => secretsOf(event?.signature, `step ${id}`)),
  ];
}

const tokenOf = (handshake: Trigger["handshake"], place: string): NamedSecret[] =>
  handshake?.verify_token === undefined
    ? []
    : [{ secret: handshake.verify_token, scheme: "shared_secret", place, isToken: true }];

const secretsOf = (signature: Signature | undefined, place: string): NamedSecret[] =>
  signature === undefined
    ? []
    : secretNames(signature).map((secret) => ({
        secret,
        scheme: secretFormOf(signature) as SecretForm,
        place,
      }));

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
  const groups = Map.groupBy(triggers, ({ workflow_id: id, version }) => `${id} ${version}`);
  for (const group of groups.values()) {
    const { workflow_id: workflow, version } = group[0]!;
    const definition = (await versionDefinition(workflow, version)) ?? {};
    for (const named of namedSecrets(definition, new Set(group.map(({ name }) => name)))) {
      const { secret, scheme, place, isToken } = named;
      const found = unfit.find((other) => other.scheme === scheme && other.names.includes(secret));
      if (found === undefined || (isToken && found.severity === "warning")) continue;
      results.push(
        (found.severity === "error" ? failed : warning)(
          "webhooks",
          `the secret ${secret} of ${workflow}, ${place}, ${found.message}`,
          `${found.fix.charAt(0).toUpperCase()}${found.fix.slice(1)}.`,
        ),
      );
    }
  }
  const more = results.length - MAX_LISTED;
  if (more > 0)
    return [
      ...results.slice(0, MAX_LISTED),
      warning(
        "webhooks",
        `${plural(more, "more secret is", "more secrets are")} not listed`,
        "Correct those above, then run doctor again.",
      ),
    ];
  if (results.length > 0 || triggers.length === 0) return results;
  return [ok("webhooks", "no secret is known that does not have the form of its scheme")];
}
