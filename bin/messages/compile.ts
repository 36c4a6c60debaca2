/** Compiles the message catalogues of the web interface to TypeScript: one module for each area and language. */
import { type Arguments, mergeArguments, type Message, MessageError, parseMessage } from "./parse.ts";
import { writeModule } from "./write.ts";

/** The language that the others are compared with. */
const SOURCE_LANGUAGE = "en";

/** One catalogue file, as it is read. */
export interface CatalogueFile {
  language: string;
  area: string;
  content: string;
}

export interface CompiledCatalogues {
  /** The content of each module by its path, such as `en/runs.ts`. */
  modules: Readonly<Record<string, string>>;
  /** One line for everything that is wrong: the file, the key, and what to do. */
  problems: readonly string[];
}

/** Words that can't be the name of a constant. */
const RESERVED = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends " +
    "false finally for function if implements import in instanceof interface let new null package private protected " +
    "public return static super switch this throw true try typeof undefined var void while with yield"
  ).split(" "),
);

type Report = (file: Pick<CatalogueFile, "language" | "area">, key: string, problem: string) => void;

/** @returns the messages of one file by their keys, as text */
export function readCatalogue({ content, ...file }: CatalogueFile, report: Report): Map<string, string> {
  const texts = new Map<string, string>();
  let entries: [string, unknown][];
  try {
    entries = Object.entries(JSON.parse(content) as Record<string, unknown>);
  } catch (error) {
    report(file, "", `is not valid JSON: ${(error as Error).message}`);
    return texts;
  }
  const keys = Array.from(content.matchAll(/^ {2}"([^"]+)":/gm), ([, key]) => key!);
  for (const key of new Set(keys.filter((name, index) => keys.indexOf(name) !== index)))
    report(file, key, "occurs twice. Remove one of them.");
  for (const [key, entry] of entries) {
    const text = typeof entry === "object" && entry !== null && "text" in entry ? entry.text : entry;
    if (typeof text !== "string" || text === "")
      report(file, key, 'must be a text, or an object with "text" and "note".');
    else if (!/^[a-z][a-zA-Z0-9]*$/.test(key)) report(file, key, "must be a key in camelCase.");
    else if (RESERVED.has(key)) report(file, key, `is a reserved word. Call it "${key}Button", for example.`);
    else if (/^use[A-Z]/.test(key))
      report(file, key, 'begins with "use", like a hook of React. Choose another name.');
    else texts.set(key, text);
  }
  return texts;
}

/** @param languages all languages; every area must exist in each */
export function compileCatalogues(
  languages: readonly string[],
  files: readonly CatalogueFile[],
): CompiledCatalogues {
  const problems: string[] = [];
  const report: Report = ({ language, area }, key, problem) =>
    problems.push(`src/web/messages/${language}/${area}.json: ${key === "" ? "" : `"${key}" `}${problem}`);
  const modules: Record<string, string> = {};
  const areas = [...new Set(files.map(({ area }) => area))].toSorted();
  for (const area of areas) {
    const byLanguage = new Map(
      languages.map((language) => {
        const file = files.find((one) => one.area === area && one.language === language);
        if (file === undefined)
          report({ language, area }, "", "is missing. Create it with the keys of the others.");
        return [language, file && parseFile(file, report)] as const;
      }),
    );
    const signatures = compareLanguages(area, byLanguage, report);
    for (const [language, messages] of byLanguage) {
      if (messages !== undefined)
        modules[`${language}/${area}.ts`] = writeModule({ language, area, messages, signatures });
    }
  }
  for (const language of languages)
    modules[`${language}/language.ts`] =
      `/** The language of this build. */\nexport const language: string = "${language}";\n`;
  return { modules, problems };
}

function parseFile(file: CatalogueFile, report: Report): Map<string, Message | undefined> {
  const messages = new Map<string, Message | undefined>();
  for (const [key, text] of readCatalogue(file, report)) {
    try {
      messages.set(key, parseMessage(text, file.language));
    } catch (error) {
      if (!(error instanceof MessageError)) throw error;
      report(file, key, error.message);
      messages.set(key, undefined);
    }
  }
  return messages;
}

/** @returns the arguments of each message, which satisfy all languages */
function compareLanguages(
  area: string,
  byLanguage: ReadonlyMap<string, ReadonlyMap<string, Message | undefined> | undefined>,
  report: Report,
): Map<string, Arguments> {
  const source = byLanguage.get(SOURCE_LANGUAGE);
  const signatures = new Map<string, Arguments>();
  if (source === undefined) return signatures;
  for (const [key, message] of source) if (message !== undefined) signatures.set(key, message.arguments);
  for (const [language, messages] of byLanguage) {
    if (language === SOURCE_LANGUAGE || messages === undefined) continue;
    const file = { language, area };
    for (const key of source.keys())
      if (!messages.has(key))
        report(file, key, `is missing. Translate it from ${SOURCE_LANGUAGE}/${area}.json.`);
    for (const [key, message] of messages) {
      const signature = signatures.get(key);
      if (!source.has(key))
        report(file, key, `is not in ${SOURCE_LANGUAGE}/${area}.json. Remove it, or add it there.`);
      else if (message !== undefined && signature !== undefined)
        signatures.set(
          key,
          mergeSignatures(signature, message.arguments, (problem) => report(file, key, problem)),
        );
    }
  }
  return signatures;
}

function mergeSignatures(
  source: Arguments,
  translated: Arguments,
  report: (problem: string) => void,
): Arguments {
  const merged = new Map(source);
  for (const name of source.keys())
    if (!translated.has(name))
      report(`lacks the argument or tag "${name}". Use it as in the English message.`);
  for (const [name, argument] of translated) {
    const expected = source.get(name);
    if (expected === undefined) {
      report(`has the argument or tag "${name}", which the English message lacks. Remove it.`);
      continue;
    }
    const both = mergeArguments(expected, argument);
    if (both === undefined)
      report(`uses "${name}" differently from the English message. Use it in the same way.`);
    else merged.set(name, both);
  }
  return merged;
}
