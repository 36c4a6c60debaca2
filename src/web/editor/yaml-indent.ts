/** After a key without a value a new line goes in deeper: the language's own rule does so only where a value is there. */
import { indentService, type IndentContext } from "@codemirror/language";

const STEP = 2;

export const yamlIndent = indentService.of((context: IndentContext, pos: number) => {
  // Lines that are there already stay where they are: in YAML that is what they say.
  if (context.simulatedBreak === null) return null;
  const opening = /^( *(?:- +)*)[\w"'][^#]*:\s*(?:\s#.*)?$/.exec(context.lineAt(pos, -1).text);
  return opening === null ? undefined : opening[1]!.length + STEP;
});
