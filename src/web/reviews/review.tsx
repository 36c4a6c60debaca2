/** The page of one change request: what would go live, and the decision. */
import { Alert, Anchor, Card, Code, List, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import * as texts from "#texts/reviews";
import type { Review } from "../../../schemas/review.ts";
import { PlannedSteps } from "../approvals/approval-plan.tsx";
import { Fact, Facts, RunLink } from "../runs/facts.tsx";
import { Section } from "../runs/section.tsx";
import { EmptyState, Page, QueryContent } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { CronText } from "../workflows/schedule-text.tsx";
import { VersionDiff } from "../workflows/version-diff.tsx";
import { Decision } from "./decision.tsx";
import { reviewQuery } from "./queries.ts";
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
  return (
    <Page
      title={
        review
          ? texts.publishVersion({ version: review.version, workflow: review.workflow_id })
          : texts.changeRequest
      }
      about={reviewId}
    >
      <QueryContent query={query}>
        {(loaded) =>
          loaded === null ? (
            <EmptyState title={texts.notFound}>
              <Anchor component={Link} to="/reviews" inherit>
                {texts.pendingRequests}
              </Anchor>
            </EmptyState>
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
            {reason ?? texts.noReason}
          </Text>
        </Stack>
      </Card>
      <ReviewFacts review={review} />
      {status === "pending" && changed && (
        <Alert color="yellow" title={texts.hasChanged} role="note">
          {texts.hasChangedHelp}
        </Alert>
      )}
      {base === null ? (
        <Section title={texts.allNew} order={2}>
          <Code block mah={480} style={{ overflow: "auto" }} tabIndex={0}>
            {review.difference ?? texts.tooLong}
          </Code>
        </Section>
      ) : (
        <VersionDiff workflowId={id} from={base} to={version} />
      )}
      <Plan review={review} />
      <Examples examples={review.examples ?? []} />
      {status === "pending" ? <Decision review={review} /> : <Outcome review={review} />}
    </Stack>
  );
}

function ReviewFacts({ review }: { review: Review }) {
  const { project, workflow_id: id, base_version: base } = review;
  return (
    <Facts>
      <Fact name={texts.workflow}>
        <Anchor component={Link} to={`/workflows/${id}`} inherit>
          {id}
        </Anchor>
      </Fact>
      {project !== undefined && <Fact name={texts.project}>{project}</Fact>}
      <Fact name={texts.publishedWhenRequested}>
        {base === null ? texts.nothing : texts.versionNumber({ version: base })}
      </Fact>
      <Fact name={texts.requestedBy}>{`${review.requested_by} (${review.key_name})`}</Fact>
      <Fact name={texts.requestedAt}>
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
    <Section title={texts.runsCanDo} order={2}>
      <List size="sm" spacing={4} aria-label={texts.goesLive}>
        <List.Item>
          {schedule === null
            ? texts.noSchedule
            : texts.schedule({ cron: <CronText cron={schedule.cron} />, timezone: schedule.timezone })}
        </List.Item>
        {triggers.map((trigger) => (
          <List.Item key={trigger.id}>
            {texts.trigger({
              name: <Code>{trigger.id}</Code>,
              signed: trigger.signature === null ? "no" : "yes",
              scheme: trigger.signature ?? "",
              conditional: trigger.if === undefined ? "no" : "yes",
              condition: <Code>{trigger.if}</Code>,
            })}
          </List.Item>
        ))}
        {alert !== undefined && (
          <List.Item>
            {texts.mustSucceed({
              every: alert.every,
              others: alert.mail.length > 0 ? "yes" : "no",
              mails: alert.mail.join(", "),
            })}
          </List.Item>
        )}
        {saved.length > 0 && <List.Item>{texts.savesState({ names: saved.join(", ") })}</List.Item>}
        {tool !== null && (
          <List.Item>
            {texts.asTool({
              reaches: tool.effects.length > 0 ? "yes" : "no",
              effects: tool.effects.join("; "),
            })}
          </List.Item>
        )}
        {broken.length > 0 && <List.Item>{texts.breaksCallers({ workflows: broken.join(", ") })}</List.Item>}
      </List>
      {workflows.map((workflow) => (
        <PlannedSteps key={`${workflow.role} ${workflow.workflow_id}`} workflow={workflow} />
      ))}
    </Section>
  );
}

function Examples({ examples }: { examples: NonNullable<Review["examples"]> }) {
  return (
    <Section title={texts.examples} order={2}>
      {examples.length === 0 ? (
        <Text size="sm">{texts.noExamples}</Text>
      ) : (
        <List size="sm" spacing={4} aria-label={texts.examples}>
          {examples.map(({ name, run_id: runId, compared, checked_up_to: end }, index) => (
            <List.Item key={runId}>
              {texts.exampleResult({
                name: name ?? texts.exampleNumber({ number: index + 1 }),
                result: end !== undefined ? "partial" : compared ? "compared" : "succeeded",
                step: end ?? "",
                run: <RunLink id={runId} />,
              })}
            </List.Item>
          ))}
        </List>
      )}
    </Section>
  );
}

function Outcome({ review: { status, decided_by: by, decided_at: at, comment } }: { review: Review }) {
  if (status === "pending") return null;
  const time = at !== null && <Time at={at} />;
  return (
    <Alert color="gray" title={texts.outcome({ status })} role="status">
      <Text size="sm">{by === null ? time : texts.decidedByAt({ person: by, time })}</Text>
      {comment !== null && (
        <Text size="sm" mt="xs" style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
          {texts.quoted({ comment })}
        </Text>
      )}
    </Alert>
  );
}
