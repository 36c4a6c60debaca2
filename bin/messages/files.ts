/** Reads the catalogues of the web interface, and gives the modules that belong to them. */
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { INTERFACE_LANGUAGES } from "../../schemas/interface-language.ts";
import { type CatalogueFile, compileCatalogues } from "./compile.ts";

const MESSAGES = new URL("../../src/web/messages/", import.meta.url);

export const readCatalogueFiles = (): CatalogueFile[] =>
  INTERFACE_LANGUAGES.flatMap((language) =>
    readdirSync(new URL(`${language}/`, MESSAGES))
      .filter((name) => name.endsWith(".json"))
      .map((name) => ({
        language,
        area: basename(name, ".json"),
        content: readFileSync(new URL(`${language}/${name}`, MESSAGES), "utf8"),
      })),
  );

/**
 * @returns the content of each generated module by its path in the repository
 * @throws if a message can't be compiled, or differs between the languages; names all of them
 */
export function messageModules(): Record<string, string> {
  const { modules, problems } = compileCatalogues(INTERFACE_LANGUAGES, readCatalogueFiles());
  if (problems.length > 0) throw new Error(`The message catalogues have problems:\n${problems.join("\n")}`);
  return Object.fromEntries(
    Object.entries(modules).map(([path, content]) => [`src/web/messages/generated/${path}`, content]),
  );
}
