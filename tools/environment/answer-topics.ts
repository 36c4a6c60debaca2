/** The answer to the topics of describe_environment. */
import type { Issue } from "../../schemas/problem.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import type { AnyStepType } from "../../src/core/step-type.ts";

/** Maximum number of unknown topics that an answer names. */
const MAX_UNKNOWN = 20;

/**
 * The guide to the topics that there are, with a warning about each other one.
 * @param topics one or several, separated by commas
 * @throws AppError invalid_input if there is none of them
 */
export async function answerTopics(
  topics: string | readonly string[],
  stepTypes: readonly AnyStepType[],
): Promise<{ guide: string; warnings?: Issue[] }> {
  // Loaded on demand, because the guide imports the whole language, and the catalogue contains this operation.
  const [{ getGuides, TOPICS }, { catalogue }] = await Promise.all([
    import("./guide.ts"),
    import("../index.ts"),
  ]);
  const { guide, unknown, words } = getGuides([topics].flat(), stepTypes, catalogue);
  const allowed = [...TOPICS, ...stepTypes.map(({ type }) => type)];
  const issues = unknown
    .slice(0, MAX_UNKNOWN)
    .map((topic) => unknownTopic(topic, allowed, nearMatch(topic, [...allowed, ...words])));
  if (guide === "") throw invalidInput(issues);
  return { guide, ...(issues.length > 0 && { warnings: issues }) };
}

const unknownTopic = (topic: string, allowed: string[], near: string | undefined): Issue => ({
  path: "topic",
  code: "not_allowed",
  message: `has "${topic}", which is no topic of the guide, no field and no function`,
  allowed,
  ...(near !== undefined && { did_you_mean: near }),
});
