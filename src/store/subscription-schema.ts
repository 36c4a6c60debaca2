/** The tables of subscriptions, of events with their deliveries, and of what workflows are expected to do. */
import type { DeliveryState, EventType, SubscriptionFormat } from "../../schemas/subscription.ts";

export interface SubscriptionSchema {
  subscriptions: {
    id: string;
    project: string;
    name: string;
    format: SubscriptionFormat;
    /** Null where the URL is the value of a secret. */
    url: string | null;
    url_secret: string | null;
    /** Lists, as JSON; null for no filter. */
    events: string;
    workflows: string | null;
    tags: string | null;
    include_values: number;
    /** Counts the rotations of the signing secret, which is derived from it. */
    generation: number;
    /** Until when deliveries are signed with the secret before the last rotation too. */
    previous_until: string | null;
    paused_at: string | null;
    pause_reason: string | null;
    /** When the first of the attempts failed since the last one that succeeded. */
    failing_since: string | null;
    succeeded_at: string | null;
    created_at: string;
    created_by: string;
    /** The usage subject of its creator (core/usage-limits.ts). */
    subject: string;
    /** Who last set the URL or `include_values`; null when nobody of this instance has. */
    confirmed_by: string | null;
    /** The lineage of the key with which they did; null for a person who was signed in. */
    confirmed_lineage: string | null;
    confirmed_at: string | null;
  };
  outgoing_events: {
    id: string;
    type: EventType;
    project: string;
    workflow_id: string | null;
    run_id: string | null;
    at: string;
    /** What the event reports, as JSON. */
    data: string;
  };
  deliveries: {
    id: string;
    event_id: string;
    /** The id of its subscription; `mail` for a mail. */
    queue: string;
    project: string;
    /** The address of a mail; null for a subscription. */
    recipient: string | null;
    state: DeliveryState;
    attempts: number;
    /** Increases with each claim. */
    fence: number;
    /** When the next attempt is due; while it is claimed, when the claim ends. Null once it has ended. */
    due_at: string | null;
    claimed_by: string | null;
    created_at: string;
    attempted_at: string | null;
    ended_at: string | null;
    status: number | null;
    response: string | null;
    error: string | null;
    ms: number | null;
  };
  /** Within which time published workflows must succeed. */
  expectations: {
    workflow_id: string;
    version: number;
    every: string;
    /** Mail addresses, as JSON. */
    mail: string;
    published_by: string;
    /** The publication, the last success, or the end of a pause. */
    since: string;
    due_at: string;
    succeeded_at: string | null;
    /** When the alert was raised; null while nothing is overdue. */
    overdue_since: string | null;
  };
  /** The notices of keys that expire, so that each is sent once. */
  key_notices: { key_id: string; expires_at: string; days: number };
}
