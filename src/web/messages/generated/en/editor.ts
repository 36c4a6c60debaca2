/** Generated from src/web/messages/en/editor.json by `npm run generate`. Edit that file instead. */
import { formatNumber, pluralForm } from "../../format.ts";

export const databaseDetail = ({ type, access }: { type: string | number; access: "readOnly" | "readWrite" }): string =>
  `${type}, ${(access === "readOnly" ? "read-only" : "read-write")}`;
export const scratchDetail = "DuckDB in memory";
export const sameDefinition = ({ before, after }: { before: string | number; after: string | number }): string =>
  `No changes. ${before} and ${after} have the same definition.`;
export const changes = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} change` : `${formatNumber(count)} changes`);
export const previousChange = "Previous change";
export const nextChange = "Next change";
export const showUnchanged = "Show unchanged lines";
export const bothVersions = ({ before, after }: { before: string | number; after: string | number }): string =>
  `${before} and ${after}`;
export const unchangedLines = "$ unchanged lines";
export const keysHint = "Press Ctrl-Space to complete, Ctrl-. to apply the fix at the cursor, and F8 for the next issue. Press Escape, then Tab to leave the editor.";
export const noFixTitle = "No fix could be applied";
export const noFixHelp = "Change the definition as the issues say.";
export const fixFailed = "The fix can’t be applied";
export const pathMissing = ({ path }: { path: string | number }): string =>
  `${path} does not exist`;
export const fixSyntaxFirst = "Fix the syntax errors first.";
export const issues = "Issues";
export const applyAllFixes = "Apply all fixes";
export const applyFix = "Apply fix";
export const applyFixOf = ({ issue }: { issue: string | number }): string =>
  `Apply fix: ${issue}`;
export const severity = ({ severity }: { severity: "error" | "warning" }): string =>
  (severity === "error" ? "error" : "warning");
export const line = ({ line }: { line: string | number }): string =>
  `Line ${line}:`;
export const errors = ({ errors }: { errors: number }): string =>
  (pluralForm(errors) === "one" ? `${formatNumber(errors)} error` : `${formatNumber(errors)} errors`);
export const warnings = ({ warnings }: { warnings: number }): string =>
  (pluralForm(warnings) === "one" ? `${formatNumber(warnings)} warning` : `${formatNumber(warnings)} warnings`);
export const errorsAndWarnings = ({ errors, warnings }: { errors: number; warnings: number }): string =>
  `${(pluralForm(errors) === "one" ? `${formatNumber(errors)} error` : `${formatNumber(errors)} errors`)}, ${(pluralForm(warnings) === "one" ? `${formatNumber(warnings)} warning` : `${formatNumber(warnings)} warnings`)}`;
export const emptyDefinition = "Empty definition";
export const notChecked = "Not checked";
export const checking = "Not checked since the last change. Checking…";
export const notCheckedBecause = ({ reason }: { reason: string | number }): string =>
  `Not checked: ${reason}`;
export const syntaxError = "Syntax error";
export const savableOnly = "Can be saved, but not run yet.";
export const partlyChecked = "No errors, but a part was not checked: see the warnings.";
export const valid = "Valid. Ready to run.";
export const checkAgain = "Check again";
export const noAnswer = "no answer from the server.";
export const checkerNotLoaded = "the checker could not be loaded. Check your connection.";
export const serverUnreachable = "the server can’t be reached.";
export const offline = "you are offline.";
export const definitionEmpty = "The definition is empty";
export const definitionNotObject = ({ kind }: { kind: "boolean" | "list" | "null" | "number" | "text" }): string =>
  `The definition must be an object, not ${(kind === "null" ? "null" : kind === "list" ? "a list" : kind === "text" ? "text" : kind === "number" ? "a number" : "a boolean")}`;
export const startWithSteps = "Start with `steps`: a list of steps, each with an id and a type.";
export const didYouMean = ({ near }: { near: string | number }): string =>
  `Did you mean ${near}?`;
export const invalidJson = ({ problem }: { problem: string | number }): string =>
  `Invalid JSON: ${problem}`;
export const textAfterEnd = "unexpected text after the end";
export const keepOneObject = "Keep one object and delete the rest.";
export const noComments = "comments are not allowed";
export const switchToYaml = "Switch to YAML, or delete the comment.";
export const tooDeep = ({ max }: { max: string | number }): string =>
  `more than ${max} levels of nesting`;
export const flattenValue = "Flatten the value.";
export const needsDoubleQuotes = "a string needs double quotes";
export const replaceSingleQuotes = "Replace ' with \".";
export const unexpectedEnd = "unexpected end of the text";
export const closeBrackets = "Close the open brackets.";
export const valueMissing = ({ found }: { found: string | number }): string =>
  `a value is missing before ${found}`;
export const notJsonValue = ({ word }: { word: string | number }): string =>
  `${word} is not a JSON value`;
export const quoteText = "Put text between double quotes: \"…\".";
export const bracketMissing = ({ bracket }: { bracket: string | number }): string =>
  `a ${bracket} is missing`;
export const closeBracketOfLine = ({ line }: { line: string | number }): string =>
  `Close the bracket that line ${line} opens.`;
export const commaMissing = "a comma is missing";
export const addComma = ({ bracket }: { bracket: string | number }): string =>
  `Add a comma, or close with ${bracket}.`;
export const trailingComma = ({ bracket }: { bracket: string | number }): string =>
  `trailing comma before ${bracket}`;
export const deleteComma = "Delete the comma.";
export const keyExpected = "expected a key in double quotes";
export const writeKeyAs = ({ code }: { code: string | number }): string =>
  `Write it as ${code}.`;
export const duplicateKey = ({ key }: { key: string | number }): string =>
  `duplicate key ${key}`;
export const deleteOneOfTwo = "Delete one of the two.";
export const colonMissing = ({ key }: { key: string | number }): string =>
  `a colon is missing after ${key}`;
export const writeColon = ({ code }: { code: string | number }): string =>
  `Write ${code}.`;
export const unterminatedString = "unterminated string";
export const endString = ({ quote }: { quote: string | number }): string =>
  `End it with ${quote} in the same line. Write a line break as \\n.`;
export const controlCharacter = "control character in a string";
export const writeTab = "Write a tab as \\t.";
export const invalidEscape = "invalid escape sequence";
export const writeBackslash = "Write a backslash as \\\\.";
export const invalidYaml = ({ problem }: { problem: string | number }): string =>
  `Invalid YAML: ${problem}`;
export const alignLine = "Align the line with its siblings.";
export const quoteValue = "Put the text between quotes.";
export const quoteColon = "Put text that contains a colon between quotes.";
export const deleteOneKey = "Delete one of the two keys.";
export const addColon = "Add a colon after the key, or check the indentation.";
export const indentWithSpaces = "Indent with spaces.";
export const deleteTag = "Delete the tag, or put the text between quotes.";
export const checkYaml = "Check the indentation, quotes and brackets here.";
export const valueType = ({ type }: { type: string }): string =>
  (type === "string" ? "text" : type === "integer" ? "integer" : type === "number" ? "number" : type === "boolean" ? "boolean" : type === "array" ? "list" : type === "object" ? "object" : type === "null" ? "null" : `${type}`);
export const alternatives = ({ first, second }: { first: string | number; second: string | number }): string =>
  `${first} or ${second}`;
export const oneOf = ({ values }: { values: string | number }): string =>
  `One of ${values}.`;
export const defaultIs = ({ value }: { value: string | number }): string =>
  `Default: ${value}`;
export const example = ({ value }: { value: string | number }): string =>
  `Example: ${value}`;
export const schemaType = "Type of the value.";
export const schemaDescription = "Description of the value, shown in forms.";
export const schemaProperties = "Fields of the object.";
export const schemaRequired = "Names of the required fields.";
export const schemaAdditional = "Whether fields other than those in `properties` are allowed.";
export const schemaItems = "Schema of each list item.";
export const schemaEnum = "Allowed values.";
export const schemaDefault = "Default value.";
export const schemaFormat = "Format of the string.";
export const schemaPattern = "Regular expression (RE2) that the string must match.";
export const schemaMinimum = "Minimum value.";
export const schemaMaximum = "Maximum value.";
export const schemaMinLength = "Minimum length, in characters.";
export const schemaMaxLength = "Maximum length, in characters.";
export const schemaMinItems = "Minimum number of list items.";
export const schemaMaxItems = "Maximum number of list items.";
export const schemaTitle = "Label of the field.";
export const stateKey = "state";
export const stepKey = "step";
export const runKey = "a run";
export const newListItem = "new list item";
export const forStepTypes = ({ types }: { types: string | number }): string =>
  `for ${types}`;
export const requiredKey = ({ kinds }: { kinds: string | number }): string =>
  `${kinds}, required`;
export const defaultValue = "default";
export const lastTest = ({ value }: { value: string | number }): string =>
  `In the last test: ${value}`;
export const lastTestOf = ({ name, value }: { name: string | number; value: string | number }): string =>
  `${name} in the last test: ${value}`;
export const items = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} item` : `${formatNumber(count)} items`);
export const nothing = "nothing";
export const iterationIndex = "iteration, from 0";
export const received = "what was received";
export const runInputs = "inputs of the run";
export const stepOutputs = "step outputs";
export const currentRun = "the current run";
export const workflowState = "state of the workflow";
export const iterationVariables = "variables of the iteration";
export const runOutput = "output of the run";
export const resultOutput = "output of the step or iteration";
export const currentItem = "current for_each item";
export const itemIndex = "index of the item, from 0";
export const sqlParameter = "parameter";
export const nullableColumn = ({ type }: { type: string | number }): string =>
  `${type}, nullable`;
export const tableKind = ({ kind }: { kind: string }): string =>
  (kind === "table" ? "table" : kind === "view" ? "view" : `${kind}`);
export const tableWithRows = ({ kind, rows }: { kind: string | number; rows: number }): string =>
  `${kind}, ${formatNumber(rows)} rows`;
export const sqlType = "type";
export const sqlKeyword = "keyword";
export const searchFind = "Find";
export const searchReplace = "Replace";
export const searchNext = "next";
export const searchPrevious = "previous";
export const searchAll = "all";
export const searchMatchCase = "match case";
export const searchRegexp = "regexp";
export const searchByWord = "by word";
export const searchReplaceOne = "replace";
export const searchReplaceAll = "replace all";
export const searchClose = "close";
export const currentMatch = "current match";
export const onLine = "on line";
export const replacedMatch = "replaced match on line $";
export const replacedMatches = "replaced $ matches";
export const goToLine = "Go to line";
export const goToLineSubmit = "go";
export const completions = "Completions";
export const foldedLines = "Folded lines";
export const unfoldedLines = "Unfolded lines";
export const linesTo = "to";
export const foldedCode = "folded code";
export const unfold = "unfold";
export const foldLine = "Fold line";
export const unfoldLine = "Unfold line";
export const selectionDeleted = "Selection deleted";
