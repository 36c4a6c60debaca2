
  
  export namespace Schemas {
    // <Schemas>
  export type Approval = { id: string, run_id: string, workflow_id: string, step_id: string, item?: number | undefined, status: ("pending" | "approved" | "declined" | "expired" | "cancelled"), message: string, form: (Record<string, unknown> | null), assignees: Array<string>, created_at: string, expires_at: (string | null), decided_at: (string | null), decided_by: (string | null), comment: (string | null), answer: (Record<string, unknown> | null) }
export type Usage = ({ input_tokens: number, output_tokens: number, cost: (number | null) } | null)
export type RunError = ({ code: string, message: string, fix?: string | undefined, step_id?: string | undefined, item?: number | undefined, details?: Record<string, unknown> | undefined } | null)
export type Attempt = { attempt: number, status: ("running" | "succeeded" | "failed" | "cancelled" | "interrupted"), started_at: string, finished_at: (string | null), input?: unknown | undefined, usage: Usage, error: RunError }
export type Table = { name: string, kind: string, columns: Array<{ name: string, type: string, nullable: boolean }>, row_count: (number | null), sample?: Array<Record<string, unknown>> | undefined }
export type Database = { database: string, tables: Array<Table>, more?: boolean | undefined }
export type Environment = { guide: string, databases?: Array<{ name: string, type: string, unusable?: string | undefined, access: ("read-only" | "read-write"), concurrency: (number | null) }> | undefined, default_database?: (string | null) | undefined, models?: Array<{ name: string, type: string, unusable?: string | undefined, model_ref: string, concurrency: (number | null) }> | undefined, mcp_servers?: Array<{ name: string, type: string, unusable?: string | undefined, concurrency: (number | null) }> | undefined, secrets?: Array<{ name: string, hosts: Array<string>, unusable?: string | undefined }> | undefined, mail?: { allowed_domains: Array<string>, unusable?: string | undefined } | undefined, step_types?: Array<{ type: string, description: string, fields: Array<string> }> | undefined, functions?: Array<string> | undefined, limits?: Record<string, number> | undefined }
export type Fault = { path: string, code: string, message: string, allowed?: Array<string> | undefined, did_you_mean?: string | undefined, fix?: string | undefined, line?: number | undefined, column?: number | undefined }
export type Health = { status: ("ok" | "draining" | "unavailable"), version: string, detail?: string | undefined }
export type Problem = { type: string, title: string, status: number, detail: string, code: string, request_id: string, errors?: Array<Fault> | undefined }
export type StartedBy = { owner: string, key_name: string, surface: ("rest" | "mcp" | "cli"), client: string }
export type RunItem = { item: number, status: ("pending" | "running" | "waiting" | "succeeded" | "failed" | "skipped" | "cancelled"), attempts: number, error: RunError }
export type RunStep = { id: string, type: string, status: ("pending" | "running" | "waiting" | "succeeded" | "failed" | "skipped" | "cancelled"), attempts: number, started_at: (string | null), finished_at: (string | null), reused_from?: string | undefined, child_run?: string | undefined, waits_until?: string | undefined, items?: { total: number, done: number, failed: number } | undefined, item?: number | undefined, error: RunError, output?: unknown | undefined, attempt_list?: Array<Attempt> | undefined, item_list?: Array<RunItem> | undefined }
export type Run = { id: string, workflow_id: string, version: number, status: ("queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled"), trigger: ("rest" | "mcp" | "cli" | "schedule" | "workflow" | "on_failure" | "example"), created_at: string, started_at: (string | null), finished_at: (string | null), retry_of?: string | undefined, parent_run?: string | undefined, scheduled_for?: string | undefined, started_by: StartedBy, patched?: boolean | undefined, progress?: { total: number, done: number, current: Array<string> } | undefined, inputs?: unknown | undefined, output?: unknown | undefined, error: RunError, failed_step?: { id: string, item?: number | undefined, type: string, attempts: number, input?: unknown | undefined } | undefined, approvals?: Array<{ id: string, step_id: string, message: string }> | undefined, steps?: Array<RunStep> | undefined, next?: string | undefined }
export type RunSummary = { id: string, workflow_id: string, version: number, status: ("queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled"), trigger: ("rest" | "mcp" | "cli" | "schedule" | "workflow" | "on_failure" | "example"), created_at: string, started_at: (string | null), finished_at: (string | null), retry_of?: string | undefined, parent_run?: string | undefined, scheduled_for?: string | undefined, error: ({ code: string, message: string, fix?: string | undefined, step_id?: string | undefined, item?: number | undefined, details?: Record<string, unknown> | undefined } | null) }
export type RunValue = { run_id: string, ref: string, text: string, offset: number, chars: number, next_offset: (number | null) }
export type SavedWorkflow = { id: string, name: string, description: string, tags: Array<string>, status: ("draft" | "published" | "archived"), definition?: (Record<string, unknown> | null) | undefined, version: number, published_version: (number | null), created_at: string, updated_at: string, created_by: string, last_run?: ({ id: string, status: ("queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled"), trigger: ("rest" | "mcp" | "cli" | "schedule" | "workflow" | "on_failure" | "example"), created_at: string, started_at: (string | null), finished_at: (string | null) } | null) | undefined, faults?: Array<Fault> | undefined }
export type ScheduleState = { workflow_id: string, version: number, cron: string, timezone: string, overlap: ("skip" | "queue"), paused: boolean, next: Array<string>, last_at: (string | null), skipped: ({ reason: ("overlap" | "missed" | "failed"), count: number, first: string, last: string, noted_at: string, message: string } | null) }
export type Validation = { valid: boolean, errors: Array<Fault>, steps?: Array<{ id: string, type: string, output: string, effects: boolean }> | undefined, output?: string | undefined, preview?: unknown | undefined }
export type Workflow = { id: string, name: string, description: string, tags: Array<string>, status: ("draft" | "published" | "archived"), definition?: (Record<string, unknown> | null) | undefined, version: number, published_version: (number | null), created_at: string, updated_at: string, created_by: string, last_run?: ({ id: string, status: ("queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled"), trigger: ("rest" | "mcp" | "cli" | "schedule" | "workflow" | "on_failure" | "example"), created_at: string, started_at: (string | null), finished_at: (string | null) } | null) | undefined }
export type WorkflowVersion = { workflow_id: string, version: number, change: ("created" | "updated" | "archived" | "restored"), name: string, description: string, tags: Array<string>, definition?: (Record<string, unknown> | null) | undefined, reason: (string | null), created_at: string, created_by: string, key_name: string, surface: ("rest" | "mcp" | "cli"), client: string }

    // </Schemas>
    }
  
  export namespace Endpoints {
  // <Endpoints>
  
  export type get_Health = {
      method: "GET",
      path: "/health",
      requestFormat: "json",
      parameters: never,
      responses: {200: Schemas.Health,
431: Schemas.Problem,
503: Schemas.Health,
},
      responseHeaders: {431: { "X-Request-Id": string },
},
    }
export type get_Run_events = {
      method: "GET",
      path: "/runs/{run_id}/events",
      requestFormat: "json",
      parameters: {
            
        path:  {run_id: string,
},
        header:  Partial<{ "Last-Event-ID": string }>,
        
          }
      responses: {200: unknown,
204: unknown,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type get_List_approvals = {
      method: "GET",
      path: "/approvals",
      requestFormat: "json",
      parameters: {
            query:  Partial<{ status: ("pending" | "approved" | "declined" | "expired" | "cancelled"), run_id: string, limit: number, cursor: string }>,
        
        
        
          }
      responses: {200: Array<Schemas.Approval>,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
408: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string, "X-Total-Count": number, Link: string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
408: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type post_Decide_approval = {
      method: "POST",
      path: "/approvals/{approval_id}",
      requestFormat: "json",
      parameters: {
            
        path:  {approval_id: string,
},
        header:  Partial<{ "Idempotency-Key": string }>,
        body:  Partial<{ decision: ("approve" | "decline"), comment: (string | null), form: Record<string, unknown> }>,
          }
      responses: {200: Schemas.Approval,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
409: Schemas.Problem,
413: Schemas.Problem,
415: Schemas.Problem,
422: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
409: { "X-Request-Id": string },
413: { "X-Request-Id": string },
415: { "X-Request-Id": string },
422: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type get_Describe_environment = {
      method: "GET",
      path: "/environment",
      requestFormat: "json",
      parameters: {
            query:  Partial<{ topic: string }>,
        
        
        
          }
      responses: {200: Schemas.Environment,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
408: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
408: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type get_Describe_database = {
      method: "GET",
      path: "/environment/databases/{database}",
      requestFormat: "json",
      parameters: {
            query:  Partial<{ table: string, samples: number }>,
        path:  {database: string,
},
        
        
          }
      responses: {200: Schemas.Database,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
502: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
502: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type get_List_runs = {
      method: "GET",
      path: "/runs",
      requestFormat: "json",
      parameters: {
            query:  Partial<{ workflow_id: string, status: Array<("queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled")>, trigger: ("rest" | "mcp" | "cli" | "schedule" | "workflow" | "on_failure" | "example"), since: string, until: string, limit: number, cursor: string }>,
        
        
        
          }
      responses: {200: Array<Schemas.RunSummary>,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string, "X-Total-Count": number, Link: string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type get_Get_run = {
      method: "GET",
      path: "/runs/{run_id}",
      requestFormat: "json",
      parameters: {
            query:  Partial<{ detail: ("summary" | "steps" | "full"), step_id: string, item: number, max_chars: number }>,
        path:  {run_id: string,
},
        
        
          }
      responses: {200: Schemas.Run,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type post_Cancel_run = {
      method: "POST",
      path: "/runs/{run_id}/cancel",
      requestFormat: "json",
      parameters: {
            
        path:  {run_id: string,
},
        header:  Partial<{ "Idempotency-Key": string }>,
        body:  Partial<{  }>,
          }
      responses: {200: Schemas.Run,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
409: Schemas.Problem,
413: Schemas.Problem,
415: Schemas.Problem,
422: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
409: { "X-Request-Id": string },
413: { "X-Request-Id": string },
415: { "X-Request-Id": string },
422: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type post_Retry_run = {
      method: "POST",
      path: "/runs/{run_id}/retry",
      requestFormat: "json",
      parameters: {
            
        path:  {run_id: string,
},
        header:  Partial<{ "Idempotency-Key": string }>,
        body:  Partial<{ patch: Array<{ op: ("add_step" | "update_step" | "remove_step" | "move_step" | "rename_step" | "update_top"), id?: string | undefined, step?: Record<string, unknown> | undefined, set?: Record<string, unknown> | undefined, unset?: Array<string> | undefined, after?: string | undefined, before?: string | undefined, to?: string | undefined }>, definition: (Record<string, unknown> | string), version: number, inputs: Record<string, unknown>, confirm: boolean, wait: number }>,
          }
      responses: {200: Schemas.Run,
202: Schemas.Run,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
409: Schemas.Problem,
413: Schemas.Problem,
415: Schemas.Problem,
422: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string },
202: { "X-Request-Id": string, Location: string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
409: { "X-Request-Id": string },
413: { "X-Request-Id": string },
415: { "X-Request-Id": string },
422: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type get_Get_run_value = {
      method: "GET",
      path: "/runs/{run_id}/values/{ref}",
      requestFormat: "json",
      parameters: {
            query:  Partial<{ offset: number, max_chars: number }>,
        path:  {run_id: string,
ref: string,
},
        
        
          }
      responses: {200: Schemas.RunValue,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type get_List_workflows = {
      method: "GET",
      path: "/workflows",
      requestFormat: "json",
      parameters: {
            query:  Partial<{ search: string, tag: string, status: ("draft" | "published" | "archived"), sort: ("created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name"), include: Array<("definition" | "last_run")>, limit: number, cursor: string }>,
        
        header:  Partial<{ "If-None-Match": string }>,
        
          }
      responses: {200: Array<Schemas.Workflow>,
304: unknown,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
408: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string, ETag: string, "X-Total-Count": number, Link: string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
408: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type post_Create_workflow = {
      method: "POST",
      path: "/workflows",
      requestFormat: "json",
      parameters: {
            
        
        header:  Partial<{ "Idempotency-Key": string }>,
        body:  { name: string, description?: string | undefined, tags?: Array<string> | undefined, definition?: (Record<string, unknown> | string | null) | undefined, reason?: (string | null) | undefined },
          }
      responses: {201: Schemas.SavedWorkflow,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
408: Schemas.Problem,
413: Schemas.Problem,
415: Schemas.Problem,
422: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {201: { "X-Request-Id": string, ETag: string, Location: string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
408: { "X-Request-Id": string },
413: { "X-Request-Id": string },
415: { "X-Request-Id": string },
422: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type get_Get_workflow = {
      method: "GET",
      path: "/workflows/{workflow_id}",
      requestFormat: "json",
      parameters: {
            query:  Partial<{ include: Array<"last_run"> }>,
        path:  {workflow_id: string,
},
        header:  Partial<{ "If-None-Match": string }>,
        
          }
      responses: {200: Schemas.Workflow,
304: unknown,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string, ETag: string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type patch_Update_workflow = {
      method: "PATCH",
      path: "/workflows/{workflow_id}",
      requestFormat: "json",
      parameters: {
            
        path:  {workflow_id: string,
},
        header:  Partial<{ "If-Match": string }>,
        body:  Partial<{ name: string, description: string, tags: Array<string>, definition: (Record<string, unknown> | string | null), patch: Array<{ op: ("add_step" | "update_step" | "remove_step" | "move_step" | "rename_step" | "update_top"), id?: string | undefined, step?: Record<string, unknown> | undefined, set?: Record<string, unknown> | undefined, unset?: Array<string> | undefined, after?: string | undefined, before?: string | undefined, to?: string | undefined }>, reason: (string | null) }>,
          }
      responses: {200: Schemas.SavedWorkflow,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
409: Schemas.Problem,
412: Schemas.Problem,
413: Schemas.Problem,
415: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string, ETag: string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
409: { "X-Request-Id": string },
412: { "X-Request-Id": string },
413: { "X-Request-Id": string },
415: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type delete_Archive_workflow = {
      method: "DELETE",
      path: "/workflows/{workflow_id}",
      requestFormat: "json",
      parameters: {
            query:  Partial<{ reason: (string | null) }>,
        path:  {workflow_id: string,
},
        header:  Partial<{ "If-Match": string }>,
        
          }
      responses: {200: Schemas.Workflow,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
412: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string, ETag: string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
412: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type post_Publish_workflow = {
      method: "POST",
      path: "/workflows/{workflow_id}/publish",
      requestFormat: "json",
      parameters: {
            
        path:  {workflow_id: string,
},
        header:  Partial<{ "If-Match": string, "Idempotency-Key": string }>,
        body:  Partial<{ version: number }>,
          }
      responses: {200: Schemas.Workflow,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
409: Schemas.Problem,
412: Schemas.Problem,
413: Schemas.Problem,
415: Schemas.Problem,
422: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string, ETag: string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
409: { "X-Request-Id": string },
412: { "X-Request-Id": string },
413: { "X-Request-Id": string },
415: { "X-Request-Id": string },
422: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type post_Restore_workflow = {
      method: "POST",
      path: "/workflows/{workflow_id}/restore",
      requestFormat: "json",
      parameters: {
            
        path:  {workflow_id: string,
},
        header:  Partial<{ "If-Match": string, "Idempotency-Key": string }>,
        body:  Partial<{ reason: (string | null) }>,
          }
      responses: {200: Schemas.Workflow,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
412: Schemas.Problem,
413: Schemas.Problem,
415: Schemas.Problem,
422: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string, ETag: string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
412: { "X-Request-Id": string },
413: { "X-Request-Id": string },
415: { "X-Request-Id": string },
422: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type get_List_workflow_runs = {
      method: "GET",
      path: "/workflows/{workflow_id}/runs",
      requestFormat: "json",
      parameters: {
            query:  Partial<{ status: Array<("queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled")>, trigger: ("rest" | "mcp" | "cli" | "schedule" | "workflow" | "on_failure" | "example"), since: string, until: string, limit: number, cursor: string }>,
        path:  {workflow_id: string,
},
        
        
          }
      responses: {200: Array<Schemas.RunSummary>,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string, "X-Total-Count": number, Link: string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type post_Run_workflow = {
      method: "POST",
      path: "/workflows/{workflow_id}/runs",
      requestFormat: "json",
      parameters: {
            
        path:  {workflow_id: string,
},
        header:  Partial<{ "Idempotency-Key": string }>,
        body:  Partial<{ inputs: Record<string, unknown>, version: number, wait: number }>,
          }
      responses: {200: Schemas.Run,
202: Schemas.Run,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
409: Schemas.Problem,
413: Schemas.Problem,
415: Schemas.Problem,
422: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string },
202: { "X-Request-Id": string, Location: string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
409: { "X-Request-Id": string },
413: { "X-Request-Id": string },
415: { "X-Request-Id": string },
422: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type get_Get_schedule = {
      method: "GET",
      path: "/workflows/{workflow_id}/schedule",
      requestFormat: "json",
      parameters: {
            
        path:  {workflow_id: string,
},
        
        
          }
      responses: {200: Schemas.ScheduleState,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type post_Pause_schedule = {
      method: "POST",
      path: "/workflows/{workflow_id}/schedule/pause",
      requestFormat: "json",
      parameters: {
            
        path:  {workflow_id: string,
},
        header:  Partial<{ "Idempotency-Key": string }>,
        body:  Partial<{  }>,
          }
      responses: {200: Schemas.ScheduleState,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
413: Schemas.Problem,
415: Schemas.Problem,
422: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
413: { "X-Request-Id": string },
415: { "X-Request-Id": string },
422: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type post_Resume_schedule = {
      method: "POST",
      path: "/workflows/{workflow_id}/schedule/resume",
      requestFormat: "json",
      parameters: {
            
        path:  {workflow_id: string,
},
        header:  Partial<{ "Idempotency-Key": string }>,
        body:  Partial<{  }>,
          }
      responses: {200: Schemas.ScheduleState,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
413: Schemas.Problem,
415: Schemas.Problem,
422: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
413: { "X-Request-Id": string },
415: { "X-Request-Id": string },
422: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type post_Unpublish_workflow = {
      method: "POST",
      path: "/workflows/{workflow_id}/unpublish",
      requestFormat: "json",
      parameters: {
            
        path:  {workflow_id: string,
},
        header:  Partial<{ "If-Match": string, "Idempotency-Key": string }>,
        body:  Partial<{  }>,
          }
      responses: {200: Schemas.Workflow,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
409: Schemas.Problem,
412: Schemas.Problem,
413: Schemas.Problem,
415: Schemas.Problem,
422: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string, ETag: string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
409: { "X-Request-Id": string },
412: { "X-Request-Id": string },
413: { "X-Request-Id": string },
415: { "X-Request-Id": string },
422: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type get_List_workflow_versions = {
      method: "GET",
      path: "/workflows/{workflow_id}/versions",
      requestFormat: "json",
      parameters: {
            query:  Partial<{ include: Array<"definition">, limit: number, cursor: string }>,
        path:  {workflow_id: string,
},
        
        
          }
      responses: {200: Array<Schemas.WorkflowVersion>,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string, "X-Total-Count": number, Link: string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type get_Get_workflow_version = {
      method: "GET",
      path: "/workflows/{workflow_id}/versions/{version}",
      requestFormat: "json",
      parameters: {
            
        path:  {workflow_id: string,
version: number,
},
        
        
          }
      responses: {200: Schemas.WorkflowVersion,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
404: Schemas.Problem,
408: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
404: { "X-Request-Id": string },
408: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }
export type post_Validate_workflow = {
      method: "POST",
      path: "/workflows/validate",
      requestFormat: "json",
      parameters: {
            
        
        
        body:  { definition: (Record<string, unknown> | string), workflow_id?: string | undefined, inputs?: Record<string, unknown> | undefined, mocks?: Record<string, unknown> | undefined },
          }
      responses: {200: Schemas.Validation,
400: Schemas.Problem,
401: Schemas.Problem,
403: Schemas.Problem,
408: Schemas.Problem,
413: Schemas.Problem,
415: Schemas.Problem,
429: Schemas.Problem,
431: Schemas.Problem,
500: Schemas.Problem,
503: Schemas.Problem,
},
      responseHeaders: {200: { "X-Request-Id": string },
400: { "X-Request-Id": string },
401: { "X-Request-Id": string },
403: { "X-Request-Id": string },
408: { "X-Request-Id": string },
413: { "X-Request-Id": string },
415: { "X-Request-Id": string },
429: { "X-Request-Id": string, "Retry-After": string },
431: { "X-Request-Id": string },
500: { "X-Request-Id": string },
503: { "X-Request-Id": string, "Retry-After": string },
},
    }

  // </Endpoints>
  }
  
  
  
     // <EndpointByMethod>
     export type EndpointByMethod = {
     get: {
           "/health": Endpoints.get_Health,
"/runs/{run_id}/events": Endpoints.get_Run_events,
"/approvals": Endpoints.get_List_approvals,
"/environment": Endpoints.get_Describe_environment,
"/environment/databases/{database}": Endpoints.get_Describe_database,
"/runs": Endpoints.get_List_runs,
"/runs/{run_id}": Endpoints.get_Get_run,
"/runs/{run_id}/values/{ref}": Endpoints.get_Get_run_value,
"/workflows": Endpoints.get_List_workflows,
"/workflows/{workflow_id}": Endpoints.get_Get_workflow,
"/workflows/{workflow_id}/runs": Endpoints.get_List_workflow_runs,
"/workflows/{workflow_id}/schedule": Endpoints.get_Get_schedule,
"/workflows/{workflow_id}/versions": Endpoints.get_List_workflow_versions,
"/workflows/{workflow_id}/versions/{version}": Endpoints.get_Get_workflow_version
         },
post: {
           "/approvals/{approval_id}": Endpoints.post_Decide_approval,
"/runs/{run_id}/cancel": Endpoints.post_Cancel_run,
"/runs/{run_id}/retry": Endpoints.post_Retry_run,
"/workflows": Endpoints.post_Create_workflow,
"/workflows/{workflow_id}/publish": Endpoints.post_Publish_workflow,
"/workflows/{workflow_id}/restore": Endpoints.post_Restore_workflow,
"/workflows/{workflow_id}/runs": Endpoints.post_Run_workflow,
"/workflows/{workflow_id}/schedule/pause": Endpoints.post_Pause_schedule,
"/workflows/{workflow_id}/schedule/resume": Endpoints.post_Resume_schedule,
"/workflows/{workflow_id}/unpublish": Endpoints.post_Unpublish_workflow,
"/workflows/validate": Endpoints.post_Validate_workflow
         },
patch: {
           "/workflows/{workflow_id}": Endpoints.patch_Update_workflow
         },
delete: {
           "/workflows/{workflow_id}": Endpoints.delete_Archive_workflow
         }
     }
     
     // </EndpointByMethod>
     

    // <EndpointByMethod.Shorthands>
    export type GetEndpoints = EndpointByMethod["get"]
export type PostEndpoints = EndpointByMethod["post"]
export type PatchEndpoints = EndpointByMethod["patch"]
export type DeleteEndpoints = EndpointByMethod["delete"]
    // </EndpointByMethod.Shorthands>
    
  
  