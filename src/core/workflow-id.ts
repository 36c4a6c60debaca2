/** The rule for ids of new workflows, whichever way they come in: a request, a file or the command line. */
import { RESERVED_WORKFLOW_IDS, WORKFLOW_ID } from "../../schemas/workflow.ts";
import { workflowIdPrefix } from "../../schemas/project.ts";
import { AppError } from "./errors.ts";
import { slugOf } from "./slug.ts";

/** Maximum length of an id that is derived from a name, in characters, without its prefix. */
const SLUG_LENGTH = 60;

/** The beginning of the id of a workflow with this name; another one may have it. */
export const workflowSlug = (name: string, project: string): string =>
  `${workflowIdPrefix(project)}${slugOf(name, SLUG_LENGTH) || "workflow"}`;

interface IdIssue {
  code: string;
  message: string;
  /** A similar id that fits. */
  did_you_mean: string;
  fix: string;
}

const isReserved = (id: string): boolean => RESERVED_WORKFLOW_IDS.has(id);

/** @param similar may be reserved */
function issue(code: string, message: string, similar: string, fix?: string): IdIssue {
  const near = isReserved(similar) ? `${similar}-workflow` : similar;
  return { code, message, did_you_mean: near, fix: fix ?? `Write ${near}.` };
}

/** Why a new workflow of a project can't have an id, apart from others that have it; undefined if it can. */
export function workflowIdIssue(id: string, project: string): IdIssue | undefined {
  const prefix = workflowIdPrefix(project);
  const shown = JSON.stringify(id.slice(0, 100));
  if (!WORKFLOW_ID.test(id))
    return issue(
      "wrong_format",
      `must be lower-case letters, digits and -, starting with a letter or digit, got ${shown}`,
      workflowSlug(id.toLowerCase().startsWith(prefix) ? id.slice(prefix.length) : id, project),
    );
  if (!id.startsWith(prefix))
    return issue(
      "wrong_format",
      `of a new workflow of the project "${project}" must begin with "${prefix}"`,
      `${prefix}${id.slice(id.indexOf(".") + 1)}`,
    );
  const rest = id.slice(prefix.length);
  if (rest.includes("."))
    return issue(
      "wrong_format",
      `of a new workflow of the project "${project}" must not begin with another project, got ${shown}`,
      `${prefix}${rest.slice(rest.indexOf(".") + 1)}`,
      "Set the project, or use an id without a dot.",
    );
  return isReserved(id)
    ? issue("reserved", `must not be ${shown}, which is a path of the API or of the interface`, id)
    : undefined;
}

/** @param holder the workflow that has the id, in words; left out where the caller can't see it */
export const idTakenError = (id: string, holder?: string): AppError =>
  new AppError(
    "workflow_id_taken",
    `The id "${id}" is already used${holder === undefined ? "" : ` by ${holder}`}, and ids can't be reused. Nothing was changed. Choose another id.`,
    {
      errors: [
        {
          path: "id",
          code: "taken",
          message: `is already used${holder === undefined ? "" : ` by ${holder}`}`,
          fix: "Choose another id, or leave it out: an id is then made of the name.",
        },
      ],
    },
  );
