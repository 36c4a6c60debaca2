/**
 * The definition's schema, made from the step types: what validates it, and the JSON Schema that editors and agents
 * are given. One description of each field serves both.
 */
import { z } from "zod";
import {
  COMMON_STEP_FIELDS,
  type StepDefinition,
  type Definition,
  Cel,
  MAX_STEPS,
  TOP_FIELDS,
} from "../../../schemas/workflow-definition.ts";
import { WorkflowDescription, WorkflowName, WorkflowTags } from "../../../schemas/workflow.ts";
import type { AnyStepType, Field } from "../../core/step-type.ts";
import { templated } from "./templated-schema.ts";

/** What files have at the top beside the definition itself. */
export const FILE_FIELDS = {
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,199}$/, {
      error: "must be lower-case letters, digits and -, beginning with a letter or digit",
    })
    .optional()
    .meta({ description: "In files: the workflow's id.", example: "weekly-revenue" }),
  name: WorkflowName.optional(),
  description: WorkflowDescription.optional(),
  tags: WorkflowTags.optional(),
} as const;

/** A field as it is written: with expressions where it takes them. */
function written(field: Field): z.ZodType {
  if (field.kind === "literal") return field.schema;
  if (field.kind === "template") return templated(field.schema);
  const { id: _, ...meta } = field.schema.meta() ?? {};
  const { description, example } = { ...Cel.meta(), ...meta };
  const expression = Cel.meta({ description: description!, example });
  return field.schema.safeParse(undefined).success ? expression.optional() : expression;
}

/** The schema of the steps of one type. */
export function stepSchema(type: AnyStepType) {
  const own = Object.fromEntries(
    Object.entries(type.fields as Record<string, Field>).map(([name, field]) => [name, written(field)]),
  );
  const { id, ...common } = COMMON_STEP_FIELDS;
  return z
    .strictObject({
      id,
      type: z.literal(type.type).meta({ description: type.description, example: type.type }),
      ...common,
      // Last: a type may say more of a field that all have.
      ...own,
    })
    .meta({ title: type.title, description: type.description, example: type.example });
}

const stepsOf = (step: z.ZodType): z.ZodArray<z.ZodType> =>
  z
    .array(step)
    .min(1)
    .max(MAX_STEPS)
    .meta({
      description: "What it does, in order: a step waits for the one before it unless needs says otherwise.",
      example: [{ id: "hello", type: "set", values: { greeting: "Good morning" } }],
    });

type StepForms = [ReturnType<typeof stepSchema>, ...ReturnType<typeof stepSchema>[]];

const stepOf = (stepTypes: readonly AnyStepType[]): z.ZodType =>
  z.discriminatedUnion("type", stepTypes.map(stepSchema) as StepForms);

/** The whole definition; what it gives has its defaults filled in. */
export const definitionSchema = (stepTypes: readonly AnyStepType[]): z.ZodType<Definition> =>
  z.strictObject({
    ...TOP_FIELDS,
    steps: stepsOf(stepOf(stepTypes)) as unknown as z.ZodArray<z.ZodType<StepDefinition>>,
  });

/** What stands at the top, the steps themselves aside: those are parsed one by one. */
export const topLevelSchema = (file: boolean) =>
  z.strictObject({ ...(file && FILE_FIELDS), ...TOP_FIELDS, steps: stepsOf(z.unknown()) });

/**
 * The JSON Schema (draft 2020-12) of a definition as people and agents write it, for editors, documents and checks.
 * It also takes what files have at the top.
 */
export function definitionJsonSchema(stepTypes: readonly AnyStepType[]): Record<string, unknown> {
  const whole = z.strictObject({ ...FILE_FIELDS, ...TOP_FIELDS, steps: stepsOf(stepOf(stepTypes)) });
  const { $schema, ...schema } = z.toJSONSchema(whole, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      const { example, ...rest } = jsonSchema as Record<string, unknown>;
      if (example === undefined) return;
      // JSON Schema's own word for it.
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      Object.assign(jsonSchema, rest, { examples: [example] });
    },
  });
  return {
    $schema,
    title: "Millrace workflow",
    description: "A workflow's definition.",
    ...schema,
  };
}
