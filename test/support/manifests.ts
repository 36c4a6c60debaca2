/** The files of deploy/ as data. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type CollectionTag, parseAllDocuments, parseDocument, type ScalarTag } from "yaml";

export const DEPLOY = fileURLToPath(new URL("../../deploy/", import.meta.url));

// oxlint-disable-next-line typescript/no-explicit-any -- what a test expects of it, it says by expecting it
export type Data = any;

/** Every document of a YAML file. @throws Error at what is not valid */
export function documentsOf(file: string): Data[] {
  return parseAllDocuments(readFileSync(file, "utf8"), { uniqueKeys: true, strict: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]!.message}`);
    return document.toJS();
  });
}

const SCALARS = ["Ref", "Sub", "GetAtt", "Condition"].map((name): ScalarTag => ({
  tag: `!${name}`,
  resolve: (text) => `!${name} ${text}`,
}));
const LISTS = ["If", "Equals", "Not", "Or"].map((name): CollectionTag => ({
  tag: `!${name}`,
  collection: "seq",
}));

/** A CloudFormation template: `!Ref X` becomes the text "!Ref X", `!If [a, b, c]` the list. Takes no aliases: AWS does not. */
export function templateOf(text: string): Data {
  const document = parseDocument(text, { customTags: [...SCALARS, ...LISTS], uniqueKeys: true });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) throw new Error(faults[0]!.message);
  return document.toJS({ maxAliasCount: 0 });
}
