/** The tests that documents name, each as `test/….test.ts`: "title". */
import { existsSync, readFileSync } from "node:fs";
import { type ESTree, parseSync, Visitor } from "vite";
import { ROOT } from "./documents.ts";

const TEST_FUNCTIONS = new Set(["it", "test"]);
/** Such a test does not run, or passes when it fails. */
const HOLDS_NOTHING = new Set(["skip", "todo", "fails"]);
/** The contracts are tests that each database runs. */
const NAMED_TEST = /^`(test\/(?:support\/contracts\/[^`]+\.ts|[^`]+\.test\.tsx?))`: "(.+)"$/;
const MAX_NAMED = 3;

/** The names that lead to a call: it and each, of `it.each([1])("title", …)`. */
function namesOf(node: ESTree.Expression | ESTree.Super): string[] {
  if (node.type === "Identifier") return [node.name];
  if (node.type === "CallExpression") return namesOf(node.callee);
  if (node.type === "TaggedTemplateExpression") return namesOf(node.tag);
  if (node.type !== "MemberExpression" || node.property.type !== "Identifier") return [];
  return [...namesOf(node.object), node.property.name];
}

/** The titles of the tests in a source, as they are written there: those of it.each with their placeholders. */
export function titlesIn(file: string, source: string): Set<string> {
  const titles = new Set<string>();
  const visitor = new Visitor({
    CallExpression({ callee, arguments: [title, body] }) {
      const names = namesOf(callee);
      if (!TEST_FUNCTIONS.has(names[0] ?? "") || names.some((name) => HOLDS_NOTHING.has(name))) return;
      if (title === undefined || body === undefined) return;
      if (title.type === "Literal" && typeof title.value === "string") titles.add(title.value);
      if (title.type === "TemplateLiteral") titles.add(source.slice(title.start + 1, title.end - 1));
    },
  });
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} can't be parsed: ${errors[0]!.message}`);
  visitor.visit(program);
  return titles;
}

const titlesOf = new Map<string, Set<string>>();

/** Returns what is wrong with the tests that a cell of a table names. */
export function namedTestIssues(cell: string): string[] {
  const named = cell.split("<br>").map((line) => NAMED_TEST.exec(line.trim()));
  if (named.length > MAX_NAMED || named.includes(null))
    return [`must be one to three of \`test/….test.ts\`: "title", separated by <br>, got ${cell}`];
  return named.flatMap((match) => {
    const [, file, title] = match!;
    if (!existsSync(`${ROOT}${file!}`)) return [`${file!} does not exist`];
    const titles = titlesOf.get(file!) ?? titlesIn(file!, readFileSync(`${ROOT}${file!}`, "utf8"));
    titlesOf.set(file!, titles);
    return titles.has(title!) ? [] : [`${file!} has no test "${title!}"`];
  });
}
