/** A workflow: details, steps, definition, recent runs, schedule and state. */
import { Alert, Anchor, Badge, Card, Code, Grid, Group, Stack, Tabs, Text, Title } from "@mantine/core";
import { IconArchive, IconInfoCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { Link, useParams, useSearchParams } from "react-router";
import { projectOf } from "../../../schemas/project-ids.ts";
import { BacktestList } from "../backtests/backtest-list.tsx";
import { OfferedTo } from "../projects/offered-to.tsx";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { useHasScopeIn, useProjects } from "../projects/use-projects.tsx";
import { ReviewNotice } from "../reviews/review-notice.tsx";
import { QueryContent, Page, LoadingSkeleton } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { type WorkflowWithEtag, workflowQuery } from "./queries.ts";
import { DaysOfWorkflow } from "./days-of-workflow.tsx";
import { ExposureNotice } from "./exposure-notice.tsx";
import { WorkflowLink } from "./names.tsx";
import { OverdueNotice } from "./overdue.tsx";
import { RecentRuns } from "./recent-runs.tsx";
import { SchedulePanel } from "./schedule-panel.tsx";
import { StatePanel, useDeclaresState } from "./state-panel.tsx";
import { StepsPanel } from "./steps-panel.tsx";
import { TriggersPanel, useHasTriggers } from "./triggers-panel.tsx";
import { WorkflowActions } from "./workflow-actions.tsx";
import { WorkflowState } from "./workflow-state.tsx";

const DefinitionPanel = lazy(async () => ({
  default: (await import("./definition-panel.tsx")).DefinitionPanel,
}));
const PublishDialog = lazy(async () => ({ default: (await import("./publish-dialog.tsx")).PublishDialog }));
const OfferDialog = lazy(async () => ({
  default: (await import("../projects/offer-dialog.tsx")).OfferDialog,
}));
const MoveDialog = lazy(async () => ({ default: (await import("../projects/move-dialog.tsx")).MoveDialog }));
const DetailsDialog = lazy(async () => ({ default: (await import("./details-dialog.tsx")).DetailsDialog }));

export default function WorkflowPage() {
  const { workflowId = "" } = useParams();
  const query = useQuery(workflowQuery(workflowId));
  if (query.data === undefined) {
    return (
      <Page title={workflowId}>
        <QueryContent query={query}>{() => null}</QueryContent>
      </Page>
    );
  }
  return <WorkflowDetails key={workflowId} read={query.data} />;
}

function WorkflowDetails({ read }: { read: WorkflowWithEtag }) {
  const { workflow } = read;
  const declaresState = useDeclaresState(workflow);
  const hasTriggers = useHasTriggers(workflow);
  const { chosen } = useProjects();
  // Another project may be chosen while a link to this workflow is followed.
  const linkedProject = chosen === undefined ? undefined : projectOf(workflow);
  const [dialog, setDialog] = useState<"publish" | "details" | "offer" | "move">();
  const close = () => setDialog(undefined);
  return (
    <Page
      title={workflow.name}
      actions={
        <WorkflowActions
          read={read}
          onPublish={() => setDialog("publish")}
          onDetails={() => setDialog("details")}
          onOffer={() => setDialog("offer")}
          onMove={() => setDialog("move")}
        />
      }
      about={<About read={read} />}
    >
      <Notice read={read} />
      <OverdueNotice workflowId={workflow.id} />
      <ReviewNotice workflowId={workflow.id} />
      <ExposureNotice workflow={workflow} />
      <DaysOfWorkflow workflow={workflow} project={linkedProject} />
      <Grid gap="lg">
        <Grid.Col span={12}>
          <Views read={read} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Panel title="Recent runs">
            <RecentRuns workflowId={workflow.id} project={linkedProject} />
          </Panel>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <Panel title="Schedule">
            <SchedulePanel workflow={workflow} />
          </Panel>
        </Grid.Col>
        <Grid.Col span={12}>
          <Panel title="Backtests">
            <BacktestList workflow={workflow} />
          </Panel>
        </Grid.Col>
        {hasTriggers && (
          <Grid.Col span={12}>
            <Panel title="Webhooks">
              <TriggersPanel workflow={workflow} />
            </Panel>
          </Grid.Col>
        )}
        {declaresState && (
          <Grid.Col span={12}>
            <Panel title="State">
              <StatePanel workflow={workflow} />
            </Panel>
          </Grid.Col>
        )}
      </Grid>
      <Suspense>
        {dialog === "publish" && <PublishDialog read={read} version={workflow.version} onClose={close} />}
        {dialog === "details" && <DetailsDialog read={read} onClose={close} />}
        {dialog === "offer" && <OfferDialog workflow={workflow} onClose={close} />}
        {dialog === "move" && <MoveDialog read={read} onClose={close} />}
      </Suspense>
    </Page>
  );
}

function About({ read: { workflow } }: { read: WorkflowWithEtag }) {
  const { id, description, tags, created_at: created, created_by: by, updated_at: updated } = workflow;
  return (
    <Stack gap={6}>
      <Group gap="xs">
        <WorkflowState workflow={workflow} />
        <Code>{id}</Code>
        <ProjectBadge project={workflow.project} />
        {tags.map((tag) => (
          <Badge
            key={tag}
            component={Link}
            to={`/workflows?tag=${encodeURIComponent(tag)}`}
            variant="default"
            tt="none"
            fw={500}
            style={{ cursor: "pointer" }}
          >
            {tag}
          </Badge>
        ))}
      </Group>
      {description !== "" && (
        <Text
          size="sm"
          c="var(--mantine-color-text)"
          maw={760}
          style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}
        >
          {description}
        </Text>
      )}
      <UsedBy callers={workflow.used_by ?? []} />
      <OfferedTo workflowId={id} />
      <Text size="xs">
        Updated <Time at={updated} ago />, created <Time at={created} ago /> by {by}
      </Text>
    </Stack>
  );
}

/** The workflows that run this one. */
function UsedBy({ callers }: { callers: readonly string[] }) {
  if (callers.length === 0) return null;
  return (
    <Text size="sm">
      Used by{" "}
      {callers.map((id, index) => (
        <span key={id}>
          {index > 0 && ", "}
          <WorkflowLink id={id} underline="always" />
        </span>
      ))}
    </Text>
  );
}

function Notice({ read: { workflow } }: { read: WorkflowWithEtag }) {
  const { id, status, version, published_version: published } = workflow;
  const may = useHasScopeIn(workflow);
  if (status === "archived") {
    return (
      <Alert color="gray" icon={<IconArchive aria-hidden />} title="Archived">
        This workflow can’t run. Its ID and history are kept.{may("write") && " Restore it to use it again."}
      </Alert>
    );
  }
  if (status !== "published" || published === null || published === version) return null;
  return (
    <Alert color="blue" icon={<IconInfoCircle aria-hidden />} title="Unpublished changes">
      You see version {version}. Runs and the schedule use version {published} until you publish version{" "}
      {version}.{" "}
      <Anchor
        component={Link}
        to={`/workflows/${id}/versions?from=${published}&to=${version}`}
        size="sm"
        underline="always"
      >
        Compare versions
      </Anchor>
    </Alert>
  );
}

function Views({ read: { workflow } }: { read: WorkflowWithEtag }) {
  const [parameters, setParameters] = useSearchParams();
  const view = parameters.get("view") === "definition" ? "definition" : "steps";
  return (
    <Tabs
      value={view}
      onChange={(chosen) =>
        setParameters(chosen === "definition" ? { view: "definition" } : {}, { replace: true })
      }
      keepMounted={false}
    >
      <Tabs.List mb="md" aria-label="Views">
        <Tabs.Tab value="steps">Steps</Tabs.Tab>
        <Tabs.Tab value="definition">Definition</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="steps">
        <StepsPanel definition={workflow.definition} />
      </Tabs.Panel>
      <Tabs.Panel value="definition">
        <Suspense fallback={<LoadingSkeleton rows={8} />}>
          <DefinitionPanel workflow={workflow} />
        </Suspense>
      </Tabs.Panel>
    </Tabs>
  );
}

function Panel({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card withBorder component="section" aria-label={title}>
      <Title order={2} size="h4" mb="sm">
        {title}
      </Title>
      {children}
    </Card>
  );
}
