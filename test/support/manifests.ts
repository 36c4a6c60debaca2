/** The files of deploy/ as data. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type CollectionTag, parseAllDocuments, parseDocument, type ScalarTag } from "yaml";

export const DEPLOY_DIRECTORY = fileURLToPath(new URL("../../deploy/", import.meta.url));

// oxlint-disable-next-line typescript/no-explicit-any -- the tests' expectations check the types
export type YamlData = any;

/** Every document of a YAML file. @throws Error at what is not valid */
export function parseYamlFile(file: string): YamlData[] {
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
export function parseCloudFormation(text: string): YamlData {
  const document = parseDocument(text, { customTags: [...SCALARS, ...LISTS], uniqueKeys: true });
  const issues = [...document.errors, ...document.warnings];
  if (issues.length > 0) throw new Error(issues[0]!.message);
  return document.toJS({ maxAliasCount: 0 });
}
