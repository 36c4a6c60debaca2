/**
 * The schema of definitions, built from the step types: the zod schema that validates them, and the JSON Schema for
 * editors and agents.
 */
import { z } from "zod";
import {
  COMMON_STEP_FIELDS,
  type StepDefinition,
  type Definition,
  MAX_STEPS,
  TOP_FIELDS,
} from "../../../schemas/workflow-definition.ts";
import { Cel } from "../../../schemas/field-values.ts";
import { WORKFLOW_ID, WorkflowDescription, WorkflowName, WorkflowTags } from "../../../schemas/workflow.ts";
import { oncePer } from "../../core/once-per.ts";
import type { AnyStepType, Field } from "../../core/step-type.ts";
import { isWaitingStepType } from "../../../schemas/waiting-step-types.ts";
import { templated } from "./templated-schema.ts";

/** Top-level fields that only files have. */
export const FILE_FIELDS = {
  id: z
    .string()
    .regex(WORKFLOW_ID, {
      error: "must be lower-case letters, digits and -, starting with a letter or digit",
    })
    .optional()
    .meta({ description: "The id of the workflow, in files only.", example: "weekly-revenue" }),
  name: WorkflowName.optional(),
  description: WorkflowDescription.optional(),
  tags: WorkflowTags.optional(),
  draft: z.boolean().optional().meta({
    description:
      "Whether the file is applied even with issues, as a draft that is not published; in files only.",
    example: true,
  }),
} as const;

/** Returns the schema of a field before its expressions are resolved. */
function unresolvedSchema(field: Field): z.ZodType {
  if (field.kind === "literal") return field.schema;
  if (field.kind === "template") return templated(field.schema);
  const { id: _, ...meta } = field.schema.meta() ?? {};
  const { description, example } = { ...Cel.meta(), ...meta };
  const expression = Cel.meta({ description: description!, example });
  return field.schema.safeParse(undefined).success ? expression.optional() : expression;
}

/** The unresolved fields of a step type. */
const typeFieldsOf = (type: AnyStepType): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(type.fields as Record<string, Field>).map(([name, field]) => [
      name,
      unresolvedSchema(field),
    ]),
  );

const typeName = (type: AnyStepType) =>
  z.literal(type.type).meta({ description: type.description, example: type.type });

/** What follows from the output of a lookup, which is `result` in both. */
const LOOKUP_FIELDS = {
  happened: Cel.meta({
    description:
      "A condition that is true if the effect happened. It reads the output of the request as result.",
    example: "size(result.body) > 0",
  }),
  output: templated(
    z
      .record(z.string(), z.unknown())
      .optional()
      .meta({
        description:
          "What the step returns if the effect happened. It reads the output of the request as result. Default: that output, if the lookup has the type of the step.",
        example: { status_code: 201, headers: {}, body: "${{ result.body[0] }}" },
      }),
  ),
} as const;

/** A field of a step that holds another one, without an id. */
export type NestedField = "undo" | "lookup";

interface NestedStep {
  /** Whether a step of this type can be there. */
  accepts(type: AnyStepType): boolean;
  /** Its fields besides those of its type, `retry` and `timeout`. */
  fields: Readonly<Record<string, z.ZodType>>;
  /** The id of its schema. */
  id: string;
  /** What a step of an accepted type can do. */
  purpose: string;
}

export const NESTED_STEPS: Readonly<Record<NestedField, NestedStep>> = {
  // A step that waits for a time, a person or another run does not end by itself.
  undo: { accepts: ({ type }) => !isWaitingStepType(type), fields: {}, id: "Undo", purpose: "undo a step" },
  lookup: {
    accepts: ({ canLookUp }) => canLookUp !== undefined,
    fields: LOOKUP_FIELDS,
    id: "Lookup",
    purpose: "find out whether an effect happened",
  },
};

/** The schema of a step of one type inside another step. */
export function nestedStepSchema(field: NestedField, type: AnyStepType) {
  const { description, retry, timeout } = COMMON_STEP_FIELDS;
  return z
    .strictObject({
      type: typeName(type),
      description,
      retry,
      timeout,
      ...typeFieldsOf(type),
      ...NESTED_STEPS[field].fields,
    })
    .meta({ title: type.title, description: type.description });
}

/** The schema of a step inside another step; any object where no type is accepted. */
function nestedSchema(field: NestedField, stepTypes: readonly AnyStepType[]): z.ZodType {
  const { accepts, id } = NESTED_STEPS[field];
  const schemas = stepTypes.filter(accepts).map((type) => nestedStepSchema(field, type));
  if (schemas.length === 0) return COMMON_STEP_FIELDS[field];
  return z
    .discriminatedUnion("type", schemas as [(typeof schemas)[0], ...typeof schemas])
    .meta({ id, ...COMMON_STEP_FIELDS[field].meta() })
    .optional();
}

/**
 * The schema of the steps of one type.
 * @param nested the schemas of the steps inside it; left out, any objects are accepted
 */
export function stepSchema(
  type: AnyStepType,
  nested: Readonly<Record<NestedField, z.ZodType>> = COMMON_STEP_FIELDS,
) {
  const { id, ...common } = COMMON_STEP_FIELDS;
  return z
    .strictObject({
      id,
      type: typeName(type),
      ...common,
      undo: nested.undo,
      lookup: nested.lookup,
      // Last, because a type may describe a common field in more detail.
      ...typeFieldsOf(type),
    })
    .meta({ title: type.title, description: type.description, example: type.example });
}

const stepsOf = (step: z.ZodType): z.ZodArray<z.ZodType> =>
  z
    .array(step)
    .min(1)
    .max(MAX_STEPS)
    .meta({
      description: "The steps, in order. A step waits for the one before it unless needs says otherwise.",
      example: [{ id: "hello", type: "set", values: { greeting: "Good morning" } }],
    });

type StepSchemas = [ReturnType<typeof stepSchema>, ...ReturnType<typeof stepSchema>[]];

function stepOf(stepTypes: readonly AnyStepType[]): z.ZodType {
  const nested = { undo: nestedSchema("undo", stepTypes), lookup: nestedSchema("lookup", stepTypes) };
  return z.discriminatedUnion("type", stepTypes.map((type) => stepSchema(type, nested)) as StepSchemas);
}

/** The schema of a whole definition. Parsing fills in the defaults. */
export const definitionSchema = oncePer((stepTypes: readonly AnyStepType[]): z.ZodType<Definition> =>
  z.strictObject({
    ...TOP_FIELDS,
    steps: stepsOf(stepOf(stepTypes)) as unknown as z.ZodArray<z.ZodType<StepDefinition>>,
  }),
);

/** The schema of the top-level fields. The steps are parsed one by one. */
export const topLevelSchema = (file: boolean) =>
  z.strictObject({ ...(file && FILE_FIELDS), ...TOP_FIELDS, steps: stepsOf(z.unknown()) });

/**
 * Builds the JSON Schema (draft 2020-12) of a definition, for editors and documents. It accepts the fields of files too.
 */
export function definitionJsonSchema(stepTypes: readonly AnyStepType[]): Record<string, unknown> {
  const fileSchema = z.strictObject({ ...FILE_FIELDS, ...TOP_FIELDS, steps: stepsOf(stepOf(stepTypes)) });
  const { $schema, ...schema } = z.toJSONSchema(fileSchema, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      const { example, ...rest } = jsonSchema as Record<string, unknown>;
      if (example === undefined) return;
      // JSON Schema calls it examples.
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      Object.assign(jsonSchema, rest, { examples: [example] });
    },
  });
  return {
    $schema,
    title: "Millrace workflow",
    description: "The definition of a workflow.",
    ...schema,
  };
}
