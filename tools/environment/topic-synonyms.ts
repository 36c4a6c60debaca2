/** Words of other workflow languages, and plurals, by the topics of the guide that they mean. */

const BY_TOPIC: Readonly<Record<string, string>> = {
  definition: "language syntax yaml guide variables templates step_types",
  expressions:
    "cel functions null null_handling numbers long_numbers types strings lists maps dates time date now regex",
  if: "condition conditions branch branching branches when switch skip",
  for_each: "loops looping foreach fan_out fanout parallel iterate iteration iterations",
  "on_error, retry, undo": "error errors error_handling error_codes failure failures",
  retry: "retries retrying attempt",
  undo: "compensation compensate rollback saga",
  "on_interrupted, lookup": "idempotency idempotent interruptions exactly_once",
  sql: "joins join_tables scratch database_query",
  http: "rest api request requests curl",
  "headers, secret": "auth authentication authorization token tokens",
  secret: "secrets credentials",
  repeat: "pagination paging page pages poll polling while",
  wait: "sleep delay pause",
  approval: "approvals approve approved approval_step human human_in_the_loop",
  model: "llm ai prompts gpt",
  tool: "mcp mcp_server mcp_tool",
  email: "mails emails smtp",
  workflow: "subworkflow sub_workflow subworkflows call_workflow child_workflow",
  triggers: "webhook webhooks hook hooks",
  schedule: "scheduling time_zone schedules crontab cron_schedule",
  "must_succeed, on_failure": "notifications alert alerts alerting",
  output: "outputs result_value return returns",
  get_workflow: "versions history",
  list_runs: "runs",
  group_runs: "statistics aggregate",
  item: "items",
  examples: "tests testing unit_tests assertions",
  "given, mocks": "trials mock mocking stub stubs",
  duration: "durations",
  publish_workflow: "publish publishing publication",
  patch: "add_step update_step remove_step move_step rename_step update_top",
};

/** The topics that a word means, separated by commas, by the word. */
export const SYNONYMS: ReadonlyMap<string, string> = new Map(
  Object.entries(BY_TOPIC).flatMap(([topics, words]) =>
    words.split(" ").map((word) => [word, topics] as const),
  ),
);
