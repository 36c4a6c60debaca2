/** Checks a workflow file with a server, which checks only the definition: the other fields belong to the file. */
import type { Issue } from "../../../schemas/problem.ts";
import { validateWorkflow } from "../../../tools/workflows/validate-workflow.ts";
import { formatPath, issuesOf } from "../../core/issues.ts";
import { readYaml } from "../../engine/definition/check/read-yaml.ts";
import { FILE_FIELDS } from "../../engine/definition/definition-schema.ts";
import type { Caller, CheckedFile } from "../caller.ts";

/** Reads the text of a workflow file, without checking its definition. */
export function readWorkflowFile(text: string) {
  const { value, issues, valueIssues, locate } = readYaml(text);
  const found: Issue[] = [
    ...issues.map((issue) => Object.assign({ path: "" }, issue)),
    ...valueIssues.map(({ path, ...issue }) => Object.assign({ path: formatPath(path) }, issue)),
  ];
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return {
      file: {},
      definition: null,
      locate,
      errors: found.length > 0 ? found : [{ path: "", code: "wrong_type", message: "must be an object" }],
    };
  const entries = Object.entries(value);
  const file: Record<string, unknown> = {};
  for (const [name, field] of entries) {
    const schema = (FILE_FIELDS as Record<string, (typeof FILE_FIELDS)[keyof typeof FILE_FIELDS]>)[name];
    if (schema === undefined) continue;
    const parsed = schema.safeParse(field);
    if (parsed.success) file[name] = parsed.data;
    else
      found.push(...issuesOf(parsed.error, schema).map((issue) => Object.assign({}, issue, { path: name })));
  }
  const definition = Object.fromEntries(entries.filter(([name]) => !Object.hasOwn(FILE_FIELDS, name)));
  return {
    file: file as CheckedFile["file"],
    definition: valueIssues.length > 0 ? null : definition,
    errors: found,
    locate,
  };
}

/** @param call calls an operation of the server */
export const checkFileOn =
  (call: Caller["call"]): Caller["checkFile"] =>
  async (text, { project, selfId }) => {
    const { locate, ...read } = readWorkflowFile(text);
    if (read.definition === null) return read;
    const { errors } = await call<{ errors: Issue[] }>(validateWorkflow, {
      definition: read.definition,
      project,
      ...(selfId !== undefined && { workflow_id: selfId }),
    });
    const positions = locate(errors.map(({ path }) => pathOf(path)));
    const located = errors.map((issue, index) => Object.assign({}, issue, positions[index]));
    return { ...read, errors: [...read.errors, ...located] };
  };

/** The parts of a path such as `steps[0].query`. */
const pathOf = (path: string): (string | number)[] =>
  [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([part, index]) =>
    index === undefined ? part : Number(index),
  );
