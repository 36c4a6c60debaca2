/** Generated from src/web/messages/en/forms.json by `npm run generate`. Edit that file instead. */

export const enterJson = "Enter JSON.";
export const removeItem = ({ list, number }: { list: string | number; number: string | number }): string =>
  `Remove ${list} ${number}`;
export const addTo = ({ list }: { list: string | number }): string =>
  `Add to ${list}`;
export const add = "Add";
export const required = "Required.";
export const pathRequired = ({ path }: { path: string | number }): string =>
  `${path} is required.`;
export const mustBeObject = "Must be a JSON object: { … }";
export const invalidJson = ({ message }: { message: string | number }): string =>
  `Invalid JSON: ${message}`;
export const inTimeZone = ({ zone }: { zone: string | number }): string =>
  `In your time zone, ${zone}.`;
export const atLeast = ({ min }: { min: string | number }): string =>
  `(at least ${min})`;
export const atMost = ({ max }: { max: string | number }): string =>
  `(at most ${max})`;
export const between = ({ min, max }: { min: string | number; max: string | number }): string =>
  `(at least ${min}, at most ${max})`;
export const yes = "Yes";
export const no = "No";
export const notSet = "Not set";
export const select = "Select";
export const noFields = "No fields to fill in.";
export const inputMode = "Input mode";
export const formMode = "Form";
export const jsonMode = "JSON";
export const valuesAsJson = "Values as JSON";
