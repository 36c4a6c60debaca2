/** Reads the OpenAPI document's operations, and validates values with its schemas. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { VERSION } from "../../src/app/build.ts";
import { openApiDocument } from "../../src/surfaces/rest/openapi.ts";
import { catalogue } from "../../tools/index.ts";

export interface Schema {
  type?: string | string[];
  example?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
}

export interface Parameter {
  in: "path" | "query" | "header";
  name: string;
  required: boolean;
  style?: string;
  explode?: boolean;
  example?: unknown;
  schema: Schema;
}

interface Content {
  [type: string]: { schema: Schema; example?: unknown };
}

export interface Operation {
  method: string;
  path: string;
  operationId: string;
  description: string;
  security: unknown[] | undefined;
  parameters: Parameter[];
  requestBody: { required?: boolean; content: Content } | undefined;
  responses: Record<
    string,
    { description: string; headers?: Record<string, { schema: Schema }>; content?: Content }
  >;
}

export const document = openApiDocument(catalogue, VERSION) as {
  info: { version: string };
  paths: Record<string, Record<string, Partial<Operation> & Pick<Operation, "operationId" | "responses">>>;
};

export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    operationId: operation.operationId,
    description: operation.description ?? "",
    security: operation.security,
    parameters: operation.parameters ?? [],
    requestBody: operation.requestBody,
    responses: operation.responses,
  })),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
// The package is CommonJS: only TypeScript sees its default export one level deeper.
(formats as unknown as (it: Ajv2020) => void)(ajv);
ajv.addSchema(document, "openapi");

const compiled = new Map<string, ValidateFunction>();

/** Validates `value` with the schema at a path of the document; returns nothing when it is valid. */
export function schemaErrorsAt(steps: readonly (string | number)[], value: unknown): string | undefined {
  const pointer = steps
    .map((step) => encodeURIComponent(String(step).replaceAll("~", "~0").replaceAll("/", "~1")))
    .join("/");
  let validate = compiled.get(pointer);
  if (validate === undefined) {
    validate = ajv.compile({ $ref: `openapi#/${pointer}` });
    compiled.set(pointer, validate);
  }
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
}
