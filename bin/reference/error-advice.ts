/** The meaning and remedy of each error code, for docs/troubleshooting.md. A code without an entry does not compile. */
import type { ErrorCode } from "../../src/core/errors.ts";
import type { StepErrorCode } from "../../src/core/step-errors.ts";

interface Advice {
  meaning: string;
  remedy: string;
}

export const ADVICE: Readonly<Record<ErrorCode, Advice>> = {
  invalid_input: {
    meaning:
      "Fields are missing, unknown, of the wrong type or out of range. `errors` names each with its path.",
    remedy:
      "Correct every entry of `errors`; `allowed`, `did_you_mean` and `fix` say how. Nothing was changed.",
  },
  invalid_json: {
    meaning: "The body is not valid JSON.",
    remedy: "Look for trailing commas, single quotes and a truncated body; send UTF-8.",
  },
  invalid_request: {
    meaning: "The HTTP request itself is malformed: no Host header, two lengths, or bytes that are not HTTP.",
    remedy: "Use an ordinary HTTP client. If you do, check the proxies in between.",
  },
  invalid_cursor: {
    meaning: "The cursor was modified, or belongs to another list, other filters or another instance.",
    remedy: "Read the list from the beginning, and repeat the filters with each page.",
  },
  unauthorized: {
    meaning:
      "The request has no valid API key or session. A key may be mistyped, expired or revoked, or its owner deactivated; clients get the same answer in each case.",
    remedy:
      "Send the key in `X-API-Key`. `millrace keys list` and the page API Keys show which keys are valid; the log says why a known key was refused. Behind a load balancer, sign out (`/logout`) and sign in again.",
  },
  subscription_not_found: {
    meaning:
      "No subscription with this id is visible: it was deleted, belongs to another project, or the id is mistyped.",
    remedy: "`GET /subscriptions` lists those of the projects that you administer.",
  },
  delivery_not_found: {
    meaning:
      "No delivery with this id is visible: it was deleted (`retention.deliveries`, or with its subscription), or is in another project.",
    remedy: "`GET /deliveries` lists deliveries.",
  },
  subscription_paused: {
    meaning:
      "The subscription is paused: by an admin, or because its receiver failed for days. Nothing is delivered.",
    remedy:
      'Correct the receiver, then resume: `PATCH /subscriptions/{subscription_id}` with `{"paused": false}`.',
  },
  subscription_not_signed: {
    meaning: "Messages to chats carry no signature, so there is no signing secret to replace.",
    remedy: "Make a new webhook in the chat, and change the secret that `url_secret` names.",
  },
  delivery_pending: {
    meaning: "The delivery has not ended: it is being attempted, or waits for its next attempt.",
    remedy: "Wait until `next_at` of `GET /deliveries/{delivery_id}`.",
  },
  too_many_subscriptions: {
    meaning:
      "The project has 50 subscriptions; over MCP, the session has 100 subscriptions to resources, or the owner 1,000.",
    remedy:
      "Delete those that are not needed. One subscription can have several events. Over MCP, unsubscribe or end a session.",
  },
  sign_in_failed: {
    meaning: "The e-mail address or the password is wrong, or the account is not active.",
    remedy:
      "Try again, or use the link for a forgotten password. Without mail: `millrace users reset <address>`.",
  },
  sign_on_refused: {
    meaning:
      "The identity provider knows the user, but Millrace does not admit them: they are deactivated, their address is not verified, no group gives them a role, or another user has the address.",
    remedy:
      "The message says which. Verify the address at the provider, add the user to a group (`authentication.sign_on.groups`), or activate them under People.",
  },
  person_needed: {
    meaning:
      "The operation requires a signed-in user. API keys can't do it, because it could create further access.",
    remedy: "Do it in the web interface, or on the server with `millrace keys` and `millrace users`.",
  },
  missing_scope: {
    meaning: "The key lacks the scope, or its owner's role (or yours) no longer allows it.",
    remedy: "Use a key with the scope that `errors` names, or have an admin change the role.",
  },
  not_permitted: {
    meaning: "The key is limited to other operations and tools; `errors` lists them.",
    remedy: "Use one of these, or another key. `millrace keys show <key>` says what a key can do.",
  },
  review_not_yours: {
    meaning:
      "You asked for this change request or wrote a part of the version; or only who asked can withdraw it.",
    remedy: "Another person with the scope `publish` decides it.",
  },
  approval_not_yours: {
    meaning:
      "The approval is assigned to others, you passed it on, you started the run, or you wrote or published what takes part in it.",
    remedy:
      "Ask one of the assignees, or somebody else; a signed-in admin can decide in their place with `override`. `approvals.by_starter: true` lets starters decide, `by_author: true` authors.",
  },
  forbidden_origin: {
    meaning:
      "A browser sent the request from another site's page, or to a host name that is not the server's.",
    remedy: "Set `MILLRACE_BASE_URL` to the address that people use. Scripts need no Origin header.",
  },
  route_not_found: {
    meaning: "Nothing is served at this path.",
    remedy: "`/apidoc` lists every path; check whether a proxy rewrites paths.",
  },
  project_not_found: {
    meaning: "There is no project with this id that the caller can see.",
    remedy: "Take the id from `list_projects`.",
  },
  workflow_not_found: {
    meaning: "No workflow has this id.",
    remedy: "`list_workflows` finds it; the message names a near match.",
  },
  version_not_found: {
    meaning: "The workflow has no version with this number.",
    remedy: "`list_workflow_versions` lists them.",
  },
  run_not_found: {
    meaning: "No run has this id; it may have been purged (`retention.runs`).",
    remedy: "`list_runs` lists the runs that exist.",
  },
  approval_not_found: {
    meaning: "No approval has this id.",
    remedy: "`list_approvals` lists pending approvals.",
  },
  review_not_found: {
    meaning: "No change request has this id.",
    remedy: "`list_reviews` lists pending change requests.",
  },
  value_not_found: {
    meaning: "The run has no such value, or the step has not run.",
    remedy: "Use a `ref` from `get_run`.",
  },
  database_not_found: {
    meaning: "The configuration names no such database.",
    remedy: "`describe_environment` lists them; add it under `databases`.",
  },
  schedule_not_found: {
    meaning: "The workflow's published version has no schedule.",
    remedy: "Give its definition a `schedule` and publish it.",
  },
  trigger_not_found: {
    meaning:
      "This instance has no trigger with this URL, or the published version of the workflow has no trigger of this name.",
    remedy:
      "Send deliveries to the URL that `GET /workflows/{workflow_id}/triggers` returns now: it may have been replaced.",
  },
  trigger_not_published: {
    meaning: "No published version of the workflow has the trigger of this URL.",
    remedy: "Publish a version with the trigger; its URL is the same as before.",
  },
  trigger_gone: {
    meaning: "The workflow of the trigger of this URL is archived.",
    remedy: "Remove the URL at the sender, or restore and publish the workflow.",
  },
  trigger_delivery_not_found: {
    meaning: "The workflow has received no such delivery, or it was purged.",
    remedy: "List the deliveries with `GET /workflows/{workflow_id}/deliveries`.",
  },
  trigger_delivery_not_stored: {
    meaning: "The body of the delivery is not stored: it was refused, or newer ones took its place.",
    remedy: "Let the sender send it again.",
  },
  signature_invalid: {
    meaning: "The signature of a delivery or an event is missing, wrong or too old.",
    remedy:
      "Sign the bytes that are sent, with the secret that the operator has configured, and send them within 5 minutes.",
  },
  secret_unavailable: {
    meaning: "The secret with which the signature is checked has no value, or not the form of its scheme.",
    remedy:
      "The operator sets or corrects the variable of the secret; `millrace doctor` says which. Send the delivery again later.",
  },
  bulk_action_not_found: {
    meaning: "There is no bulk action with this id, or it was purged.",
    remedy: "`GET /bulk-actions` lists them.",
  },
  interruption_not_found: {
    meaning: "There is no interruption with this id, or it was purged with its run.",
    remedy: "`GET /interruptions` lists those that are open.",
  },
  backfill_not_found: {
    meaning: "The workflow has no backfill with this id, or it was purged.",
    remedy: "`GET /workflows/{workflow_id}/backfills` lists them.",
  },
  backtest_not_found: {
    meaning: "The workflow has no backtest with this id, or it was purged.",
    remedy: "`GET /workflows/{workflow_id}/backtests` lists them.",
  },
  event_not_found: {
    meaning: "This instance has made no event URL with this token, or the run was purged.",
    remedy: "Send the event to the whole URL of `run.event_urls`.",
  },
  state_not_found: {
    meaning: "The definition of the workflow declares no `state`.",
    remedy: "Add `state` to its definition.",
  },
  api_key_not_found: { meaning: "No key of yours has this id.", remedy: "`list_api_keys` lists them." },
  user_not_found: { meaning: "No user has this id.", remedy: "`list_users` lists them." },
  workflow_id_taken: {
    meaning: "There is, or was, a workflow with this id. The message names it, if you can see it.",
    remedy: "Choose another `id`, or leave it out: an id is then made of the name.",
  },
  project_taken: {
    meaning: "There is a project with this id.",
    remedy: "Choose another name, or set `id`.",
  },
  project_not_empty: {
    meaning: "The project has workflows or runs, or it is the default one.",
    remedy: "Move its workflows (`move_workflow`), and wait until its runs are purged.",
  },
  grant_not_found: {
    meaning: "The project is not granted this connection.",
    remedy: "`list_grants` shows what it is granted.",
  },
  member_not_found: {
    meaning: "The person has no role in the project.",
    remedy: "`list_project_members` shows who has one.",
  },
  upgrade_unfinished: {
    meaning: "A copy of an older release runs on this state, and would not respect the change.",
    remedy:
      "Replace the last old copy, then try again. See [Upgrading](upgrading.md#projects-and-old-copies).",
  },
  session_not_found: {
    meaning: "The session has ended, or belongs to another user.",
    remedy: "No action is needed; `list_sessions` lists active sessions.",
  },
  method_not_allowed: {
    meaning: "The path exists, but does not allow this method.",
    remedy: "The `Allow` header lists the methods that it allows.",
  },
  request_timeout: {
    meaning: "The request did not arrive in time (headers 10 s, whole request 60 s).",
    remedy: "Send it faster; check for a proxy that buffers it.",
  },
  workflow_archived: {
    meaning: "The workflow is archived and can't be changed or run.",
    remedy: "Restore it first with `restore_workflow`.",
  },
  workflow_not_runnable: {
    meaning: "The definition is missing, has errors, or needs something that the environment lacks.",
    remedy: "`errors` names each one; `validate_workflow` checks a corrected definition.",
  },
  exposure_changed: {
    meaning:
      "The name, the description, the inputs or the effects of the workflow have changed since you read them.",
    remedy: "Read them again with `get_exposure`, then decide.",
  },
  exposure_not_requested: {
    meaning: "The published version does not have `expose_as_tool: true`, so there is nothing to allow.",
    remedy: "Publish a version with `expose_as_tool: true`, then allow it.",
  },
  callers_would_break: {
    meaning: "Published workflows that run this one would have issues with the new version.",
    remedy:
      "`errors` lists them, each path beginning with the id of the caller. Keep what they rely on, or name them all in `break_callers`.",
  },
  backtest_differs: {
    meaning:
      "The rule of the workflow or its project demands a backtest before it is published, and the backtest differs from the last runs.",
    remedy:
      "`errors` names what differs. Change the workflow, or accept it by name with `accept_differences`.",
  },
  backtest_unfinished: {
    meaning: "The backtest that publishing needs has not ended, or can't run.",
    remedy: "Wait for it with `backtest_workflow` and its `backtest_id`, then publish again.",
  },
  examples_failed: {
    meaning: "The definition's own examples produce other outputs than they state.",
    remedy: "`errors` shows the actual outputs; correct the workflow or the example.",
  },
  run_finished: {
    meaning: "The run has ended; it can't be cancelled or decided any more.",
    remedy: "Read it with `get_run`; `retry_run` runs it again.",
  },
  run_not_finished: {
    meaning: "The run has not ended, so it can't be retried.",
    remedy: "Wait until it ends, or cancel it first.",
  },
  approval_expired: {
    meaning: "Nobody decided before the timeout of the step or of the run.",
    remedy: "`retry_run` asks again.",
  },
  approval_plan_changed: {
    meaning:
      "What can run after the decision is no longer what the approval was asked for, such as after a change of the configuration.",
    remedy: "`get_approval` shows the new `plan`. Decide on it with `plan_digest`.",
  },
  approval_decided: {
    meaning: "Someone has decided it, or its run was stopped.",
    remedy: "`get_approval` shows the decision.",
  },
  review_changed: {
    meaning:
      "What the change request would publish is not what the digest stands for: a called workflow, the configuration or the published version has changed.",
    remedy: "Read it again with `get_review`, and send its `digest`.",
  },
  bulk_action_finished: {
    meaning: "The bulk action has ended already, so there is nothing to cancel.",
    remedy: "Look at what happened with its runs: `GET /bulk-actions/{bulk_action_id}/runs`.",
  },
  interruption_settled: {
    meaning: "A person or a lookup has settled the interruption already.",
    remedy: "Read how: `GET /interruptions/{interruption_id}`.",
  },
  bulk_action_changed: {
    meaning: "The runs that fit the filter, or what a retry of them does, are not those of the preview.",
    remedy: "Send the request without `digest`, read the new preview, and send it with its digest.",
  },
  backfill_finished: {
    meaning: "The backfill has ended already, so there is nothing to cancel.",
    remedy: "Look at its runs: `GET /workflows/{workflow_id}/runs?backfill=…`.",
  },
  backtest_finished: {
    meaning: "The backtest has ended already, so there is nothing to cancel.",
    remedy: "Look at what it found: `GET /workflows/{workflow_id}/backtests/{backtest_id}`.",
  },
  review_decided: {
    meaning: "The change request was decided, withdrawn or replaced, or is outdated.",
    remedy: "`list_reviews` with `workflow_id` shows the pending one.",
  },
  confirmation_needed: {
    meaning: "The request would repeat an effect that can't be undone, and does not confirm it.",
    remedy: "Read the message, then repeat the request with the confirmation that it names.",
  },
  sign_on_elsewhere: {
    meaning:
      "Users sign in at an identity provider (`--auth-mode cognito` or `oidc`), which manages passwords and the groups that give roles.",
    remedy: "Change it at the provider.",
  },
  setup_done: {
    meaning: "The first admin already exists.",
    remedy: "Sign in, or ask an admin for an invitation.",
  },
  email_taken: {
    meaning: "Another user has the address.",
    remedy: "Look under People: renew the invitation, or activate the user.",
  },
  last_admin: {
    meaning: "The instance would have no active admin.",
    remedy: "Make another user an admin first.",
  },
  too_many_keys: {
    meaning: "A user can have at most 100 valid keys.",
    remedy: "Revoke keys that are not used.",
  },
  user_not_invited: {
    meaning: "The user has no open invitation to renew.",
    remedy: "If they forgot the password, reset it.",
  },
  user_not_active: {
    meaning: "The user is invited or deactivated.",
    remedy: "Renew the invitation, or activate the user.",
  },
  event_received: {
    meaning: "The step has received its event, has timed out, or its run has ended.",
    remedy: "A URL accepts one event; a retry of the run has a new URL.",
  },
  link_expired: {
    meaning: "The link was used, was replaced by a newer one, or has expired.",
    remedy: "Ask for a new link. For the first admin, start `serve` again: it prints a new one.",
  },
  authorization_expired: {
    meaning:
      "The request of an application to connect has expired after 15 minutes, was decided already, or was begun in another browser or a newer tab.",
    remedy: "Connect the application again from its own settings, and decide in the tab that opens.",
  },
  api_key_of_application: {
    meaning: "The key is the access of an application that a person has connected. It can't be rotated.",
    remedy: "The application renews its token itself. Revoke the key to end the access.",
  },
  api_key_revoked: {
    meaning: "The key is revoked, so it can't be rotated.",
    remedy: "Create a new key.",
  },
  api_key_expired: {
    meaning: "The key has expired, so it can't be rotated.",
    remedy: "Create a new key.",
  },
  version_conflict: {
    meaning:
      "The workflow changed since you read it (`If-Match`), so your change would overwrite another one.",
    remedy: "Read it again, apply your change to it, and send it with the new version.",
  },
  payload_too_large: {
    meaning: "The body is larger than 1 MiB.",
    remedy: "Send less; put large data into a database and query it.",
  },
  unsupported_media_type: {
    meaning: "The request's content type is not JSON.",
    remedy: "Send `Content-Type: application/json`.",
  },
  idempotency_key_reused: {
    meaning: "The idempotency key was used with another request in the past 24 h.",
    remedy: "Use a new key for a new request, and the same key only to repeat one.",
  },
  rate_limited: {
    meaning: "The key, or the user, has used all of its requests of this minute.",
    remedy: "Wait as long as `Retry-After` says; `limits.requests_per_minute` sets the limit.",
  },
  too_many_attempts: {
    meaning: "Too many wrong passwords, links or mails from one address or for one account.",
    remedy: "Wait as long as `Retry-After` says.",
  },
  too_many_runs: {
    meaning: "The limit of unfinished runs, or of runs started by this key, is reached.",
    remedy:
      "Wait as long as `Retry-After` says, or cancel some runs. `limits.unfinished_runs` and `limits.per_key` set the limits. If runs do not end, check that an executor is running (`millrace doctor`).",
  },
  too_many_bulk_actions: {
    meaning: "Three bulk actions of this owner are running.",
    remedy: "Wait until one has ended, or cancel one.",
  },
  too_many_backfills: {
    meaning: "Ten backfills of this owner are running.",
    remedy: "Wait until one has ended, or cancel one.",
  },
  too_many_backtests: {
    meaning: "Three backtests of this owner are running.",
    remedy: "Wait until one has ended, or cancel one.",
  },
  too_many_streams: {
    meaning: "The key, or the user, has too many event streams open.",
    remedy: "Close some; several viewers can share one.",
  },
  headers_too_large: {
    meaning: "The request's headers are larger than 64 KiB.",
    remedy: "Send less; clear the site's cookies.",
  },
  internal: {
    meaning: "A bug in Millrace. The server logged it once, with this request id.",
    remedy: "Find the request id in the log, and report it with that line. Trying again may help.",
  },
  connection_failed: {
    meaning: "A database, mail server, identity provider or other system can't be reached.",
    remedy: "`millrace doctor` checks each of them and says what is wrong.",
  },
  busy: {
    meaning: "The database lock was not available within 5 s, or too many passwords are being checked.",
    remedy:
      "Try again after `Retry-After`. If it happens often, the disk or network file system is slow, or a process holds the lock; `millrace doctor` checks.",
  },
  storage_limit_reached: {
    meaning:
      "The runs and versions of this key, or of the user, store as many bytes as `limits.per_key.stored_bytes` allows.",
    remedy:
      "Runs free their part when `retention.runs` is over. The operator can prune old versions (`millrace storage prune-versions`) or raise the limit.",
  },
  storage_unavailable: {
    meaning:
      "The state directory can't be used: it is full, read-only, missing or damaged, or belongs to a newer release.",
    remedy:
      "The message says which. `millrace doctor` says what to do; see Operations for restoring a backup.",
  },
  outcome_unknown: {
    meaning:
      "The connection to the PostgreSQL database was lost while it committed the change, and the database could not be asked within 15 seconds whether it did.",
    remedy:
      "Send the request again with the same `Idempotency-Key`: a change that was made is not made twice. Without a key, look first whether it was made.",
  },
  storage_full: {
    meaning:
      "The disk of the state has less free space than `limits.free_disk`, so no new runs start. Everything else works.",
    remedy:
      "Free some space: shorten `retention.runs`, prune old versions (`millrace storage prune-versions`), or enlarge the volume. `millrace doctor` shows what is free. Then start the run again.",
  },
};

export const STEP_ADVICE: Readonly<Record<StepErrorCode, string>> = {
  all_items_failed:
    "The error has that of the first item; the items have their own. Correct what they have in common.",
  approval_timeout: "Ask earlier, or give the step a longer `timeout`.",
  assert_failed: "The step's message names the condition; check the steps before it.",
  cancelled: "Someone cancelled the run, or it was stopped for another reason: see the run's `error`.",
  child_cancelled: "Someone cancelled the child run; retry the run to start it again.",
  child_failed: "Open the child run; its own error says what to do.",
  database_failed: "The message contains the database's own message: correct the query or its parameters.",
  database_read_only:
    "Give the database `access: read-write` in the configuration, if the workflow may write.",
  database_unavailable:
    "Check that the database is up and its password variable is set. `millrace doctor` checks both.",
  deadlock: "`retry` repeats it; lock rows in the same order in all workflows.",
  environment: "Configure what the step names, or set its variable.",
  event_timeout: "Send the event earlier, or give the step a longer `timeout`.",
  expression_failed:
    "The message shows the expression, the position in it and the reason, but no values. Fix the expression, or the data that it reads.",
  expression_limit: "Do less in one expression: filter in SQL, or split the work with `for_each`.",
  http_blocked:
    "Private addresses need `http.allowed_hosts`, public hosts may need `http.public_hosts`, and a project a grant; secrets go to their own `hosts` only.",
  http_failed:
    "The host can't be reached, closed the connection (`retry` repeats the request), or its body is not what it declares: set `parse` or `charset`.",
  http_status:
    "The status is not 2xx; `accept_status` accepts others. `details` has the status and the beginning of the body.",
  input_invalid:
    "A field's expression returned a value that the field does not accept; the message says which.",
  interrupted:
    "An executor ended or was killed, and the step is retried automatically. A step that ends with it says `on_interrupted: fail` or `ask`, or has a lookup that could not tell: settle its interruption, then retry the run.",
  limit_reached:
    "The key's usage limit (`limits.per_key`) is reached until the time that the message names. An `email` step waits for it and goes on by itself.",
  machine_busy:
    "Give the executor more processors, or run fewer heavy expressions. The engine evaluates it again up to 10 times first.",
  mail_failed: "The mail server did not accept the mail; `millrace doctor` checks the server.",
  mail_refused: "The address's domain is not in `mail.allowed_domains`.",
  memory_limit: "Select fewer rows or columns, or aggregate in the query.",
  model_failed: "The message contains the vendor's response; `retry` repeats the request.",
  model_invalid_output: "Make the schema simpler or the instruction clearer; `retry` repeats the request.",
  model_rate_limited:
    "Give the model a `concurrency` or a `rate` in the configuration; `retry` waits as long as the vendor says.",
  model_refused: "The vendor's safety rules refused the request: change the instruction.",
  not_given:
    "Give the output of the step to the trial (`given`), or run the workflow without `given` to execute the step.",
  null_value: "Guard the expression: `has(x) ? x : default`, or `if` on the step.",
  output_invalid: "Change `output`, or `output_schema` if the new output is intended.",
  output_too_large: "A step's output can be up to 4 MiB of JSON: request less.",
  poisoned:
    "The step crashed three executors while it ran alone: it needs too much memory or crashes a driver. Split its work.",
  repeat_exhausted:
    "Raise `repeat.max`, or correct `until`: the outputs of the iterations show why it stayed false.",
  run_timeout: "Make the workflow's `timeout` longer, or split its work.",
  run_too_large:
    "Return less from the steps, or process the data in several runs. The operator sets `limits.run_bytes`.",
  state_conflict:
    "Another run, or a person, wrote the state since this run read it. Retry the run; `concurrency: 1` runs one at a time.",
  state_invalid:
    "A value of `commit`, or the stored state, does not match its schema in `state`; the message says which.",
  step_failed: "The message says what happened.",
  timeout: "Make the step's `timeout` longer, or split its work.",
  too_deep: "Workflows can call each other up to 8 levels deep: look for a cycle.",
  too_many_items: "A `for_each` accepts up to 100,000 items: group them first.",
  tool_failed: "The MCP tool reported an error; the message contains it.",
  tool_unavailable: "Check that the MCP server is running and its key is set. `millrace doctor` checks both.",
  truncated:
    "Filter or aggregate in the query, raise `max_rows`, or set `on_truncate: keep` to continue with the first rows.",
  undo_failed: "`details.undo_failed` lists the steps; undo what they did by hand.",
};
