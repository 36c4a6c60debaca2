/** Indents the line after a key without a value: the language's own rule does so only after a key with a value. */
import { indentService, type IndentContext } from "@codemirror/language";

const INDENT = 2;

export const yamlIndent = indentService.of((context: IndentContext, pos: number) => {
  // Existing lines keep their indentation: in YAML it carries meaning.
  if (context.simulatedBreak === null) return null;
  const opening = /^( *(?:- +)*)[\w"'][^#]*:\s*(?:\s#.*)?$/.exec(context.lineAt(pos, -1).text);
  return opening === null ? undefined : opening[1]!.length + INDENT;
});
