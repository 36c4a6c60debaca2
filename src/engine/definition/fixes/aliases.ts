/**
 * Names that other workflow languages use for our fields and step types, and that models therefore write. Case, `_` and
 * `-` don't count. Each alias stands for one field; a name with several meanings is not listed.
 */
import type { Aliases } from "../../../core/field-aliases.ts";

/** Aliases of the fields of every step, by field, separated by spaces. */
export const STEP_ALIASES: Aliases = {
  id: "stepid key",
  type: "kind uses action steptype",
  description: "title label comment desc notes summary displayname",
  needs: "dependson depends dependencies requires after upstream runafter waitson",
  if: "when condition runif onlyif cond guard",
  for_each: "loop each withitems iterate iterateover mapover forall over",
  concurrency: "maxconcurrency parallelism maxparallel concurrencylimit",
  retry:
    "retries retrycount maxretries numretries retrypolicy retrystrategy retryattempts maxattempts attempts",
  timeout: "timeoutseconds timeoutsecs timeoutsec timeoutms timeoutmillis timeoutmilliseconds timeoutminutes",
  on_error: "continueonerror onfailure allowfailure ignoreerrors ignorefailure iferror failurepolicy",
  cache: "cachefor cachettl cacheduration ttl",
};

/** Aliases of the fields of one step type. They win over those of every step. */
export const TYPE_FIELD_ALIASES: Readonly<Record<string, Aliases>> = {
  sql: {
    query: "sql statement sqlquery command",
    database: "db connection datasource databasename",
    params: "parameters param with args arguments bindings binds values inputs variables queryparams",
    max_rows: "limit rowlimit maxresults",
    write: "writable allowwrite",
  },
  model: {
    model: "llm modelname modelid",
    prompt: "userprompt message input content text instruction question userinput messages",
    system: "systemprompt systemmessage instructions",
    output_schema: "schema jsonschema responseschema responseformat outputformat format outputtype",
    max_output_tokens: "maxtokens maxcompletiontokens tokenlimit",
  },
  http: {
    url: "uri endpoint href address",
    method: "verb httpmethod requestmethod",
    headers: "header httpheaders",
    query: "params parameters queryparams querystring qs searchparams",
    body: "json data payload requestbody content",
    accept_status:
      "expectedstatus okstatus okstatuses acceptedstatus allowstatus successcodes validstatuscodes",
    max_bytes: "maxsize maxresponsesize",
  },
  tool: {
    tool: "toolname name function functionname",
    server: "mcpserver mcp servername",
    arguments: "args params parameters input inputs with toolinput",
  },
  workflow: {
    workflow: "workflowid workflowname name ref subworkflow",
    inputs: "input params parameters args arguments with",
  },
  set: { values: "set vars variables assign fields outputs value data with expressions" },
  assert: {
    that: "condition assert assertion test check expression expr expect",
    message: "error errormessage msg failmessage",
  },
  wait: {
    for: "duration delay sleep seconds minutes milliseconds delayseconds",
    until: "untiltime waituntil",
  },
  approval: {
    message: "prompt question text body",
    assignees: "approvers approver assignee assignedto recipients notify users to",
    required: "quorum minapprovals requiredapprovals approvalsrequired minimum",
    remind: "reminder reminders remindafter remindevery",
    escalate: "escalation escalations escalateto",
    form: "fields schema formschema inputs",
  },
  email: {
    to: "recipients recipient toaddresses toaddress",
    text: "body content message plaintext textbody bodytext",
    html: "htmlbody bodyhtml",
    subject: "title",
  },
};

/** Aliases of the top-level fields. */
export const TOP_ALIASES: Aliases = {
  inputs: "input parameters params args arguments inputschema",
  output: "outputs result results return returns",
  steps: "tasks jobs nodes actions stages",
  schedule: "cron trigger triggers on",
  on_failure: "onerror errorworkflow failureworkflow onfail",
  must_succeed:
    "expect expected expects sla freshness mustsucceedevery mustsucceedwithin succeedsevery deadman",
  timeout: "timeoutseconds timeoutsecs timeoutms timeoutmillis timeoutminutes maxduration",
  concurrency: "maxconcurrency maxruns maxconcurrentruns",
  expose_as_tool: "expose exposetool astool exposeastools",
  tool_name: "toolname",
  examples: "tests testcases example",
};

/** Aliases of the fields of `retry`. */
export const RETRY_ALIASES: Aliases = {
  attempts: "maxattempts count times tries limit maxtries retries maxretries",
  initial:
    "delay interval initialdelay initialinterval wait backoffseconds delayseconds delayms initialdelayms",
  max: "maxdelay maxinterval maxbackoff maxdelayseconds",
  backoff: "strategy type policy backofftype backoffstrategy",
  on: "codes retryon errors statuses errorcodes",
};

/** Aliases of the fields of `schedule`. */
export const SCHEDULE_ALIASES: Aliases = {
  cron: "expression schedule cronexpression",
  timezone: "tz zone timezoneid",
  inputs: "input params parameters with args",
  overlap: "concurrencypolicy onoverlap",
};

/** Aliases of step types. */
export const TYPE_ALIASES: Aliases = {
  sql: "query database db sqlquery postgres postgresql mysql sqlite duckdb",
  model: "llm ai prompt chat completion generate openai anthropic gpt claude",
  http: "httprequest request api rest fetch webhook httpcall apicall curl",
  tool: "mcp toolcall mcptool function functioncall",
  workflow: "subworkflow childworkflow callworkflow runworkflow child call",
  set: "transform variables setvariables assign compute values expression map",
  assert: "check condition validate expect",
  wait: "delay sleep pause timer",
  approval: "human manual approve humanapproval manualapproval review ask",
  email: "mail sendemail sendmail smtp",
};

/** Aliases of values, by the last key of their path. */
export const VALUE_ALIASES: Readonly<Record<string, Aliases>> = {
  on_error: { continue: "true ignore skip resume warn", fail: "false stop abort raise halt throw" },
  backoff: { fixed: "constant none", exponential: "exp expo" },
  overlap: { skip: "forbid drop", queue: "allow enqueue wait" },
};
