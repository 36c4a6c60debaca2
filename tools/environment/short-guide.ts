/** The language in short: enough for most definitions. The names are those of the schemas that the checker uses. */
import { COMMON_STEP_FIELDS, TOP_FIELDS } from "../../schemas/workflow-definition.ts";

const names = (fields: object): string => Object.keys(fields).join(", ");

export const SHORT_GUIDE = `A definition is {"steps": [{"id": "totals", "type": "sql", …}], "output": …}, an object, YAML or JSON. Steps run in order, unless needs names others (needs: [] starts at once).
\${{ … }} in a text holds one CEL expression. It reads inputs, run (id, workflow_id, trigger, started_at, scheduled_for, event_urls), state, steps.<id> (output of its type, status, error), in a fan-out item and index. A text of one \${{ }} keeps the value's type. if, that, for_each and until are CEL without \${{ }}. A query has no \${{ }}: write :name, and the value in params; database: scratch joins rows of steps.
Fields of every step: ${names(COMMON_STEP_FIELDS)}.
Other fields: ${names(TOP_FIELDS)}. inputs: JSON Schema with defaults; output: by default the last step's.
CEL has one number type (64-bit ones: text, still numbers): + - * / %, == != < > <= >=, && || !, in, c ? a : b, x ?? default (for null; write (x ?? 0) > 5), [..], {"k": v}, a.b, a[0]. list.map(x, …), filter, all, exists, sort_by(x, key, "desc"), group_by(x, key) (a map of lists), join(", "), format_date(time, "yyyy-MM-dd"). Null in other uses fails.
for_each: "steps.customers.rows" runs the step for each item; steps.<id>.items has the results in order; with on_error: continue all run; failed items have status and error. A skipped step has null fields. retry: {"attempts": 4} repeats temporary errors.
Example: {"inputs": {"type": "object", "properties": {"since": {"type": "string", "default": "2026-01-01"}}}, "steps": [{"id": "revenue", "type": "sql", "database": "shop", "query": "SELECT region, SUM(amount) AS total FROM orders WHERE ordered_on >= :since GROUP BY region", "params": {"since": "\${{ inputs.since }}"}}, {"id": "any", "type": "assert", "that": "steps.revenue.row_count > 0", "message": "No orders."}], "output": {"best": "\${{ steps.revenue.rows.sort_by(r, r.total, \\"desc\\")[0].region }}"}}
More: topic "http, repeat, format_date" for types, fields, functions; definition or expressions in full.`;
