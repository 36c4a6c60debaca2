/** What each error means and what to do about it, for docs/troubleshooting.md. A code without an entry does not compile. */
import type { ErrorCode } from "../../src/core/errors.ts";
import type { StepErrorCode } from "../../src/core/step-errors.ts";

interface Advice {
  means: string;
  todo: string;
}

export const ADVICE: Readonly<Record<ErrorCode, Advice>> = {
  invalid_input: {
    means:
      "Fields are missing, unknown, of the wrong type or out of range. `errors` names each with its path.",
    todo: "Correct every entry of `errors`; `allowed`, `did_you_mean` and `fix` say how. Nothing was changed.",
  },
  invalid_json: {
    means: "The body can't be read as JSON.",
    todo: "Look for trailing commas, single quotes and a body that was cut off; send UTF-8.",
  },
  invalid_request: {
    means: "The HTTP request itself is broken: no Host header, two lengths, bytes that are no request.",
    todo: "Use an ordinary HTTP client. If you do, look at the proxies in between.",
  },
  invalid_cursor: {
    means: "The cursor was changed, comes from another list or other filters, or from another instance.",
    todo: "Read the list from its beginning, and repeat the filters with each page.",
  },
  unauthorized: {
    means:
      "No living API key or session came with the request. A key may be mistyped, expired, revoked, or its owner deactivated; all look the same from outside.",
    todo: "Send the key in `X-API-Key`. `millrace keys list`, or the page API Keys, tells which of them live; the log says why a known one was refused. Behind a load balancer: sign out (`/logout`) and in.",
  },
  sign_in_failed: {
    means: "The e-mail address or the password is wrong, or the account is not active.",
    todo: "Try again, or use the link for a forgotten password. Without mail: `millrace users reset <address>`.",
  },
  sign_on_refused: {
    means:
      "The identity provider knows the person, but they are not let in: deactivated, without a verified address, without a group that gives a role, or somebody else has the address.",
    todo: "The message says which. Verify the address at the provider, add the person to a group (`authentication.sign_on.groups`), or let them in again under People.",
  },
  person_needed: {
    means:
      "The operation is for somebody who is signed in; no key may do it, since it could make another way in.",
    todo: "Do it in the web interface, or on the machine with `millrace keys` and `millrace users`.",
  },
  missing_scope: {
    means: "The key lacks the scope, or its owner's role (or yours) does not allow it any more.",
    todo: "Use a key with the scope that `errors` names, or have an admin change the role.",
  },
  approval_not_yours: {
    means: "The approval names others, or you started the run yourself and may not decide it.",
    todo: "Ask one of the assignees. `approvals.by_starter: true` lets starters decide.",
  },
  forbidden_origin: {
    means: "A browser sent the request from another site's page, or to a host name that is not the server's.",
    todo: "Set `MILLRACE_BASE_URL` to the address people use. Scripts need no Origin header.",
  },
  route_not_found: {
    means: "Nothing is served at this path.",
    todo: "See `/apidoc` for what there is; mind a proxy that changes paths.",
  },
  workflow_not_found: {
    means: "No workflow has this id.",
    todo: "`list_workflows` finds it; the message names a near match.",
  },
  version_not_found: {
    means: "The workflow has no version with this number.",
    todo: "`list_workflow_versions` lists them.",
  },
  run_not_found: {
    means: "No run has this id; it may have been cleared away (`retention.runs`).",
    todo: "`list_runs` lists those that are kept.",
  },
  approval_not_found: { means: "No approval has this id.", todo: "`list_approvals` lists those that wait." },
  value_not_found: {
    means: "The run has no such value, or the step has not run.",
    todo: "Take the `ref` out of `get_run`.",
  },
  database_not_found: {
    means: "The configuration names no such database.",
    todo: "`describe_environment` lists them; add it under `databases`.",
  },
  schedule_not_found: {
    means: "The workflow's published version has no schedule.",
    todo: "Give its definition a `schedule` and publish it.",
  },
  api_key_not_found: { means: "No key of yours has this id.", todo: "`list_api_keys` lists them." },
  user_not_found: { means: "No user has this id.", todo: "`list_users` lists them." },
  session_not_found: {
    means: "The session has ended, or is another's.",
    todo: "Nothing; `list_sessions` lists those that live.",
  },
  method_not_allowed: {
    means: "The path exists, but not with this method.",
    todo: "The `Allow` header says which methods it takes.",
  },
  request_timeout: {
    means: "The request did not arrive in time (headers 10 s, all of it 60 s).",
    todo: "Send it faster; look for a proxy that holds it back.",
  },
  workflow_archived: {
    means: "The workflow is archived and can't be changed or run.",
    todo: "`restore_workflow` takes it back first.",
  },
  workflow_not_runnable: {
    means: "Its definition has faults, has none, or needs something that the environment lacks.",
    todo: "`errors` names each fault; `validate_workflow` checks a corrected one.",
  },
  examples_failed: {
    means: "The definition's own examples do not come out as they say.",
    todo: "`errors` shows what came out instead; correct the workflow or the example.",
  },
  run_finished: {
    means: "The run has ended; it can't be cancelled or decided any more.",
    todo: "Look at it with `get_run`; `retry_run` repeats it.",
  },
  run_not_finished: {
    means: "The run still goes on, so it can't be retried.",
    todo: "Wait for it, or cancel it first.",
  },
  approval_decided: {
    means: "Somebody has decided it, or its time is up.",
    todo: "`get_approval` shows the decision.",
  },
  confirmation_needed: {
    means:
      "What you ask for can't be undone quietly (an effect would be repeated), and you have not said that you mean it.",
    todo: "Read the message, then repeat the request with the confirmation that it names.",
  },
  sign_on_elsewhere: {
    means:
      "People sign in at an identity provider here (`--auth-mode cognito` or `oidc`), which holds passwords, and groups that give roles.",
    todo: "Change it at the provider.",
  },
  setup_done: { means: "The first admin exists.", todo: "Sign in, or have an admin invite you." },
  email_taken: {
    means: "Somebody here has the address already.",
    todo: "Look under People: renew the invitation, or let them in again.",
  },
  last_admin: {
    means: "It would leave nobody who can administer the instance.",
    todo: "Make somebody else an admin first.",
  },
  too_many_keys: { means: "A person may have 100 living keys.", todo: "Revoke those that nobody uses." },
  user_not_invited: {
    means: "There is no open invitation to renew.",
    todo: "If they forgot the password: reset it.",
  },
  user_not_active: {
    means: "The user is invited or deactivated.",
    todo: "Renew the invitation, or let them in again.",
  },
  link_dead: {
    means: "The link was used, replaced by a newer one, or is too old.",
    todo: "Ask for another. The first admin's: start `serve` again, it prints one.",
  },
  api_key_dead: { means: "The key is revoked or expired, so it can't be rotated.", todo: "Make another." },
  version_conflict: {
    means: "It was changed since you read it (`If-Match`), so your change would undo another's.",
    todo: "Read it again, apply your change to that, and send it with the new version.",
  },
  payload_too_large: {
    means: "The body is larger than 1 MiB.",
    todo: "Send less; put large data into a database and query it.",
  },
  unsupported_media_type: {
    means: "The body is not announced as JSON.",
    todo: "Send `Content-Type: application/json`.",
  },
  idempotency_key_reused: {
    means: "The idempotency key came with another request within 24 h.",
    todo: "Use a new key for a new request, the same key only to repeat one.",
  },
  rate_limited: {
    means: "The key, or the person, has used up its requests of this minute.",
    todo: "Wait for as long as `Retry-After` says; `limits.requests_per_minute` sets the limit.",
  },
  too_many_attempts: {
    means: "Too many wrong passwords, links or mails from one address or for one account.",
    todo: "Wait for as long as `Retry-After` says.",
  },
  too_many_runs: {
    means: "So many runs are unfinished, or were started by this key, that no more are taken.",
    todo: "Wait for as long as `Retry-After` says, or cancel some. `limits.unfinished_runs` and `limits.per_key` set the limits. If runs don't end: is an executor running (`millrace doctor`)?",
  },
  too_many_streams: {
    means: "The key, or the person, has too many event streams open.",
    todo: "Close some; several viewers can share one.",
  },
  headers_too_large: {
    means: "The request's headers are larger than 64 KiB.",
    todo: "Send less; clear the site's cookies.",
  },
  internal: {
    means: "A fault of Millrace itself. It was logged once, with this request id.",
    todo: "Look for the request id in the log; report it with that line. Trying again may help.",
  },
  connection_failed: {
    means: "A database, mail server, identity provider or other system could not be reached.",
    todo: "`millrace doctor` tries each of them and says what is wrong.",
  },
  busy: {
    means: "The state's lock could not be had within 5 s, or too many passwords are being checked.",
    todo: "Try again after `Retry-After`. If it stays: a slow disk or network file system, or a process that holds the lock; `millrace doctor` looks.",
  },
  storage_unavailable: {
    means: "The state directory can't be used: full, read-only, gone, damaged, or of a newer release.",
    todo: "The message says which. `millrace doctor` says what to do; see Operations for restoring a backup.",
  },
};

export const STEP_ADVICE: Readonly<Record<StepErrorCode, string>> = {
  approval_timeout: "Ask earlier, or give the step a longer `timeout`.",
  assert_failed: "The step's message says which condition; look at the steps before it.",
  cancelled: "Somebody cancelled it, or the run was stopped for another reason: see the run's `error`.",
  child_failed: "Open the child run; its own failure says what to do.",
  database_failed: "The message holds what the database said: correct the query or its parameters.",
  database_read_only:
    "Give the database `access: read-write` in the configuration, if the workflow may write.",
  database_unavailable: "Is the database up, and its password variable set? `millrace doctor` tries it.",
  deadlock: "It is tried again by `retry`; lock rows in the same order in all workflows.",
  environment: "Something that the step names is not configured, or its variable is not set.",
  expression_failed: "The message shows the expression and the value that it failed on.",
  expression_limit: "Do less in one expression: filter in SQL, or split the work with `for_each`.",
  http_blocked: "Private addresses need `http.allowed_hosts`; secrets go to their own `hosts` only.",
  http_failed: "The host could not be reached, or broke the connection; `retry` repeats it.",
  http_status:
    "The answer's status is not 2xx; `accept_status` takes others. `details` has the status and the beginning of the body.",
  input_invalid: "A field's expression gave what the field can't take; the message says which.",
  interrupted: "An executor ended or was killed; the step is tried again by itself.",
  limit_reached: "The key's allowance (`limits.per_key`) is used up until the time that the message names.",
  mail_failed: "The mail server did not take it; `millrace doctor` tries the server.",
  mail_refused: "The address is not in `mail.allowed_domains`.",
  memory_limit: "Ask for fewer rows or columns, or aggregate in the query.",
  model_failed: "The vendor's answer is in the message; `retry` repeats it.",
  model_invalid_output: "Make the schema simpler or the instruction clearer; `retry` asks again.",
  model_rate_limited:
    "Give the model a `concurrency` in the configuration; `retry` waits as long as the vendor says.",
  model_refused: "The vendor's safety rules refused it: change the instruction.",
  null_value: "Guard the expression: `has(x) ? x : default`, or `if` on the step.",
  output_too_large: "A step may give 4 MiB of JSON: ask for less.",
  poisoned:
    "The step ended three executors alone: it needs too much memory or crashes a driver. Split its work.",
  run_timeout: "The workflow's own `timeout` was reached.",
  step_failed: "The message says what happened.",
  timeout: "The step's `timeout` was reached: make it longer, or do less.",
  too_deep: "Workflows may call each other 8 deep: look for a circle.",
  too_many_items: "A `for_each` takes 100,000 items: group them first.",
  tool_failed: "The MCP tool said that it failed; its own words are in the message.",
  tool_unavailable: "Is the MCP server running and its key set? `millrace doctor` tries it.",
};
