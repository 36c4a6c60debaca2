/** What agents ask about beyond single fields: how texts of other programs become values. */

const CSV = [
  "CSV, in `parse_csv(text, options)` and in an http step with `parse: csv` (rows in `body`; options in `csv`; the bytes are read in `charset`, else as declared, else UTF-8):",
  '- The first row names the columns; each other row is an object of texts: `int(row.n)`, `double(row.price)`. With `{"header": false}` each row is a list, the first one too.',
  '- `separator`: one character, a comma unless set; a first line `sep=;` names it as well. Nothing is guessed: for `;` write `{"separator": ";"}`.',
  '- `ragged`: rows of another length than the first are an error, unless it is "pad": missing values are null. More values than names are an error in any case.',
  "- A name that occurs twice, an open quote and bytes that are not valid in the charset are errors with the line or the place.",
].join("\n");

const FORMS = [
  "`forms` and JSON in `event` of `triggers` (body, headers, query, id, received_at): JSON keeps all digits, long numbers are text.",
  "- A form or the query: a field that occurs once is a text (`01067` stays `01067`), a repeated one is the list of its values. Where `payload` declares a field as `type: array`, or the input that takes it is one, a single value is a list too: declare it.",
  '- Names stay as sent: `event.body["tag[]"]`. A field `payload` that has JSON is the body.',
].join("\n");

export const STEPS_LINE = "- `steps` (required; list of steps): the steps.";

/** What expressions can read. */
export const VARIABLES =
  "`${{ … }}` contains one CEL expression (topic expressions). It can use `inputs`, `run` (id, workflow_id, trigger, " +
  "started_at and scheduled_for as text such as 2026-11-21T08:00:00.000Z, event_urls), `state`, `steps.<id>` of earlier steps, in a fan-out `item` and `index`, " +
  "in a repeated step `loop`; in `triggers` only `event` (body, headers, query, id, received_at). A text that " +
  "consists of a single `${{ }}` keeps the type of the value. In YAML, quote such texts.";

const SCHEDULED_FOR =
  "`run.scheduled_for`: the time of the schedule that the run is for; null unless the schedule or a backfill started it. " +
  "`inputs` of `schedule` may read it. `start_backfill` (POST /workflows/{workflow_id}/backfills, with from and to) runs past times.";

const LOOP =
  "`loop` in the fields of a step with `repeat`: `loop.index` counts the iterations from 0, `loop.<name>` is a variable of `repeat.with`. " +
  "`repeat.until` and `next` also read `result`: the output and the status of the iteration.";

/** Fields of every step that the guide to definitions only names: few steps need them, and each is a topic. */
export const OF_INTERRUPTIONS: readonly string[] = ["on_interrupted", "lookup"];
export const INTERRUPTIONS_LINE = `- ${OF_INTERRUPTIONS.map((name) => `\`${name}\``).join(", ")}: after an effect without an answer (topics).`;

const LOOKUP =
  "Of `lookup`: its fields read what the step reads, and `idempotency_key`, the key that the interrupted attempt sent. `happened` (required) is a condition, and `output` " +
  "what the step returns if it is true; both also read `result`, the output of the lookup. Without `output` that is returned: only where the lookup has the type of the step. " +
  "If it is false, the step is sent again, after a timeout or a lost connection as its `retry` says; if the lookup fails, `on_interrupted` decides (default then: fail).";

/** The notes on a word, by the word. */
export const NOTES: Readonly<Record<string, string>> = {
  csv: CSV,
  parse_csv: CSV,
  parse: CSV,
  charset: CSV,
  forms: FORMS,
  steps: STEPS_LINE,
  event: FORMS,
  scheduled_for: SCHEDULED_FOR,
  loop: LOOP,
  lookup: LOOKUP,
  happened: LOOKUP,
  idempotency_key: LOOKUP,
  result: LOOP,
  ...Object.fromEntries(
    ["run", "trigger", "started_at", "event_urls", "item", "index"].map((word) => [word, VARIABLES]),
  ),
};
