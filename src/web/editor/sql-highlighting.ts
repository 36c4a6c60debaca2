/** YAML whose queries of `sql` steps are parsed as SQL, so that they are highlighted. Loaded on demand. */
import { yamlLanguage } from "@codemirror/lang-yaml";
import { indentService, LanguageSupport, syntaxTree } from "@codemirror/language";
import { type Input, parseMixed, type SyntaxNode } from "@lezer/common";
import { dialectOf } from "./sql-suggestions.ts";

/** The nodes that hold a query; quoted ones have escapes, which SQL does not know. */
const STRINGS: ReadonlySet<string> = new Set(["BlockLiteralContent", "Literal"]);

/** @param typeOf the type of a database; undefined while it is not known */
export function yamlWithSql(typeOf: (database: string | undefined) => string | undefined): LanguageSupport {
  const wrap = parseMixed((node, input) => {
    if (!STRINGS.has(node.name)) return null;
    const step = stepOfQuery(node.node, input);
    return step === undefined ? null : { parser: dialectOf(typeOf(step.database)).language.parser };
  });
  return new LanguageSupport(yamlLanguage.configure({ wrap }), sqlIndent);
}

/** A new line of a query begins below the previous one: SQL has no indentation of its own that everyone agrees on. */
const sqlIndent = indentService.of((context, pos) => {
  for (
    let node: SyntaxNode | null = syntaxTree(context.state).resolveInner(pos, -1);
    node;
    node = node.parent
  )
    if (node.name === "Script") return context.lineIndent(pos, -1);
  return undefined;
});

/** The database of the `sql` step whose `query` a string is; undefined for any other string. */
function stepOfQuery(string: SyntaxNode, input: Input): { database: string | undefined } | undefined {
  const pair = string.name === "BlockLiteralContent" ? string.parent?.parent : string.parent;
  if (pair?.name !== "Pair" || keyOf(pair, input) !== "query" || pair.parent === null) return undefined;
  const fields = new Map(
    pair.parent.getChildren("Pair").map((field) => [keyOf(field, input), valueOf(field, input)]),
  );
  return fields.get("type") === "sql" ? { database: fields.get("database") } : undefined;
}

const textOf = ({ from, to }: SyntaxNode, input: Input): string =>
  input.read(from, to).replace(/^(["'])(.*)\1$/, "$2");

function keyOf(pair: SyntaxNode, input: Input): string | undefined {
  const key = pair.getChild("Key");
  return key === null ? undefined : textOf(key, input);
}

/** The value of a field in one line; undefined for another one. */
function valueOf(pair: SyntaxNode, input: Input): string | undefined {
  const value = pair.getChild("Literal") ?? pair.getChild("QuotedLiteral");
  return value === null ? undefined : textOf(value, input);
}
