/** The SDK compares results with the schemas of their tools. Long numbers are numbers there. */
import type { Client } from "@modelcontextprotocol/client";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { containsLongNumber } from "../../core/json-schema/index.ts";
import { isLongNumber } from "../../../schemas/long-numbers.ts";

type Validator = NonNullable<NonNullable<ConstructorParameters<typeof Client>[1]>["jsonSchemaValidator"]>;

/** Creates the validator of a client. A result matches if it does so with the text of its long numbers, or with the numbers. */
export function exactValueValidator(): Validator {
  const validator = new AjvJsonSchemaValidator();
  return {
    getValidator<T>(schema: Parameters<Validator["getValidator"]>[0]) {
      const validate = validator.getValidator<T>(schema);
      return (value) => {
        const checked = validate(value);
        if (checked.valid || !containsLongNumber(value)) return checked;
        const asNumbers = validate(rounded(value));
        return asNumbers.valid ? { ...asNumbers, data: value as T } : asNumbers;
      };
    },
  };
}

/** The server has compared the number itself; here the nearest one will do. */
function rounded(value: unknown): unknown {
  if (isLongNumber(value)) return Number(value);
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rounded(inner)]));
}
