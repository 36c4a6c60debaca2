/** The page of one change request: what would go live, and the decision. */
import { Alert, Card, Code, List, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";
import type { Review } from "../../../schemas/review.ts";
import { PlannedSteps } from "../approvals/approval-plan.tsx";
import { PassedBacktest } from "../backtests/passed-backtest.tsx";
import { VersionBacktest } from "../backtests/version-backtest.tsx";
import { Fact, Facts, RunLink } from "../runs/facts.tsx";
import { Section } from "../runs/section.tsx";
import { NotFound, Page, QueryContent } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { NextTimes } from "../workflows/next-times.tsx";
import { CronText } from "../workflows/schedule-text.tsx";
import { useWorkflowText, WorkflowLink, WorkflowNames } from "../workflows/names.tsx";
import { VersionDiff } from "../workflows/version-diff.tsx";
import { Decision } from "./decision.tsx";
import { reviewQuery } from "./queries.ts";
import { ReviewTitle } from "./review-title.tsx";
import { ReviewBadge } from "./review-badge.tsx";

/** Poll interval while it is pending: another person may decide it. */
const POLL_INTERVAL_MS = 10_000;

export default function ReviewPage() {
  const { reviewId = "" } = useParams();
  const query = useQuery({
    ...reviewQuery(reviewId),
    refetchInterval: ({ state }) => state.data?.status === "pending" && POLL_INTERVAL_MS,
  });
  const review = query.data;
  const name = useWorkflowText(review?.workflow_id ?? null);
  return (
    <Page
      title={review ? `Publish version ${review.version} of ${name}` : "Change request"}
      heading={review ? <ReviewTitle review={review} /> : "Change request"}
      about={reviewId}
    >
      <QueryContent query={query}>
        {(loaded) =>
          loaded === null ? (
            <NotFound code="review_not_found" id={reviewId} />
          ) : (
            <ReviewDetails key={loaded.id} review={loaded} />
          )
        }
      </QueryContent>
    </Page>
  );
}

function ReviewDetails({ review }: { review: Review }) {
  const { workflow_id: id, version, status, reason, changed = false, compared_with: base = null } = review;
  return (
    <Stack gap="lg">
      <Card withBorder p="lg">
        <Stack gap="sm" align="flex-start">
          <ReviewBadge status={status} />
          <Text size="lg" style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
            {reason ?? "No reason given."}
          </Text>
        </Stack>
      </Card>
      <ReviewFacts review={review} />
      {status === "pending" && changed && (
        <Alert color="yellow" title="This has changed since it was requested" role="note">
          A called workflow, the configuration or the published version is a different one now. Your decision
          is for what this page shows.
        </Alert>
      )}
      {base === null ? (
        <Section title="The whole workflow is new" order={2}>
          <Code block mah={480} style={{ overflow: "auto" }} tabIndex={0}>
            {review.difference ?? "It is too long to show here. Open the workflow to read it."}
          </Code>
        </Section>
      ) : (
        <VersionDiff workflowId={id} from={base} to={version} />
      )}
      <Plan review={review} />
      <Examples examples={review.examples ?? []} />
      <Section title="Backtest" order={2}>
        {review.backtest !== undefined && <PassedBacktest workflow={id} passed={review.backtest} />}
        <VersionBacktest workflow={{ id, project: review.project }} version={version} />
      </Section>
      {status === "pending" ? <Decision review={review} /> : <Outcome review={review} />}
    </Stack>
  );
}

function ReviewFacts({ review }: { review: Review }) {
  const { project, workflow_id: id, base_version: base } = review;
  return (
    <Facts>
      <Fact name="Workflow">
        <WorkflowLink id={id} />
      </Fact>
      {project !== undefined && <Fact name="Project">{project}</Fact>}
      <Fact name="Published when requested">{base === null ? "nothing" : `version ${base}`}</Fact>
      <Fact name="Requested by">{`${review.requested_by} (${review.key_name})`}</Fact>
      <Fact name="Requested">
        <Time at={review.requested_at} />
      </Fact>
    </Facts>
  );
}

function Plan({ review: { plan } }: { review: Review }) {
  if (plan === undefined) return null;
  const {
    workflows,
    schedule,
    triggers = [],
    must_succeed: alert,
    tool,
    saves_state: saved,
    break_callers: broken,
  } = plan;
  return (
    <Section title="What its runs can do" order={2}>
      <List size="sm" spacing={4} aria-label="What goes live">
        <List.Item>
          {schedule === null ? (
            "No schedule: it runs only when it is started or called."
          ) : (
            <>
              It runs by itself: <CronText cron={schedule.cron} /> ({schedule.timezone}).
              <NextTimes times={schedule.next_runs} />
            </>
          )}
        </List.Item>
        {triggers.map((trigger) => (
          <List.Item key={trigger.id}>
            The webhook <Code>{trigger.id}</Code> starts it:{" "}
            {trigger.signature === null
              ? "anybody who has its URL can send it"
              : `deliveries need a signature (${trigger.signature})`}
            {trigger.if !== undefined && (
              <>
                , and start a run if <Code>{trigger.if}</Code>
              </>
            )}
            .
          </List.Item>
        ))}
        {alert !== undefined && (
          <List.Item>
            It must succeed every {alert.every}: else there is an alert, with a mail to who publishes it
            {alert.mail.length > 0 && ` and to ${alert.mail.join(", ")}`}.
          </List.Item>
        )}
        {saved.length > 0 && <List.Item>It saves workflow state: {saved.join(", ")}.</List.Item>}
        {tool !== null && (
          <List.Item>
            Agents get it as a tool of its own once an admin allows it; the approval of an admin does.
            {tool.effects.length > 0 && ` Its runs reach: ${tool.effects.join("; ")}.`}
          </List.Item>
        )}
        {broken.length > 0 && (
          <List.Item>
            It breaks these callers: <WorkflowNames ids={broken} />.
          </List.Item>
        )}
      </List>
      {workflows.map((workflow) => (
        <PlannedSteps key={`${workflow.role} ${workflow.workflow_id}`} workflow={workflow} />
      ))}
    </Section>
  );
}

function Examples({ examples }: { examples: NonNullable<Review["examples"]> }) {
  return (
    <Section title="Examples" order={2}>
      {examples.length === 0 ? (
        <Text size="sm">It has no examples.</Text>
      ) : (
        <List size="sm" spacing={4} aria-label="Examples">
          {examples.map(({ name, run_id: runId, compared, checked_up_to: end }, index) => (
            <List.Item key={runId}>
              {name ?? `Example ${index + 1}`}:{" "}
              {end !== undefined
                ? `checked up to ${end}, which has effects`
                : compared
                  ? "returned what it expects"
                  : "succeeded"}{" "}
              (
              <RunLink id={runId} />)
            </List.Item>
          ))}
        </List>
      )}
    </Section>
  );
}

const OUTCOMES: Readonly<Record<Exclude<Review["status"], "pending">, string>> = {
  approved: "Approved: the version was published",
  rejected: "Rejected",
  withdrawn: "Withdrawn",
  replaced: "Replaced by a newer request",
  outdated: "Outdated: the workflow was unpublished, archived or moved, or published without it",
};

function Outcome({ review: { status, decided_by: by, decided_at: at, comment } }: { review: Review }) {
  if (status === "pending") return null;
  return (
    <Alert color="gray" title={OUTCOMES[status]} role="status">
      <Text size="sm">
        {by !== null && `By ${by}, `}
        {at !== null && <Time at={at} />}
      </Text>
      {comment !== null && (
        <Text size="sm" mt="xs" style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
          “{comment}”
        </Text>
      )}
    </Alert>
  );
}
