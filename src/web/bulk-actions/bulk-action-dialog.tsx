/** Previews a bulk action, and starts exactly what the preview says. */
import {
  Alert,
  Button,
  Checkbox,
  Group,
  Modal,
  NumberInput,
  ScrollArea,
  Select,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useInfiniteQuery, useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { DEFAULT_BULK_CONCURRENCY, MAX_BULK_CONCURRENCY } from "../../../schemas/bulk-action-limits.ts";
import type { BulkAction } from "../../../schemas/bulk-action.ts";
import { RATE_PATTERN } from "../../../schemas/field-values.ts";
import { ApiError, send } from "../api/client.ts";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { useProjects } from "../projects/use-projects.tsx";
import { pluralize } from "../runs/labels.ts";
import { useIdempotencyHeader } from "../runs/use-idempotency-header.ts";
import { Section } from "../runs/section.tsx";
import { ErrorAlert, LoadingSkeleton } from "../ui/page.tsx";
import { flattenPages } from "../ui/pagination.ts";
import { useConfirmations } from "../ui/use-confirmations.ts";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { useWorkflowText } from "../workflows/names.tsx";
import { versionsQuery } from "../workflows/queries.ts";
import type { BulkChoice } from "./choice.ts";
import { MoreRuns, Plan, Skipped } from "./plan.tsx";
import { bulkActionListKey, previewQuery } from "./queries.ts";
import {
  ambiguousProjects,
  previewRequest,
  readConcurrency,
  startBody,
  type StartFields,
} from "./requests.ts";
import { repeatedEffects, startLabel } from "./texts.ts";

interface BulkActionDialogProps {
  choice: BulkChoice;
  onClose: () => void;
}

interface TypedFields extends Omit<StartFields, "concurrency"> {
  /** Text while it is no number: empty, for example. */
  concurrency: number | string;
}

export function BulkActionDialog({ choice, onClose }: BulkActionDialogProps) {
  const { action, description } = choice;
  const [project, setProject] = useState<string>();
  const [version, setVersion] = useState<number>();
  const [workflow, setWorkflow] = useState<string>();
  const [fields, setFields] = useState<TypedFields>({
    rate: "",
    concurrency: DEFAULT_BULK_CONCURRENCY,
    reason: "",
  });
  const request = previewRequest(choice, { project, version, workflow });
  const preview = useQuery(previewQuery(request));
  const isCurrent = preview.data !== undefined && !preview.isFetching && !preview.isError;
  const digest = preview.data?.digest ?? "";
  const mustCheck = repeatedEffects(preview.data?.plan ?? []).length > 0;
  const { confirmed, isComplete, onConfirm } = useConfirmations(mustCheck ? [digest] : []);
  const start = useStart(onClose);
  // While another version is previewed, or its preview fails, the workflow is still that of the choice.
  const commonWorkflow = preview.data?.workflow_id ?? workflow;
  const isChanged = start.error instanceof ApiError && start.error.code === "bulk_action_changed";
  const isRateValid = fields.rate === "" || RATE_PATTERN.test(fields.rate.trim());
  const concurrency = readConcurrency(fields.concurrency);
  const runs = preview.data?.runs.total ?? 0;
  const canStart = isCurrent && runs > 0 && isComplete && isRateValid && concurrency !== undefined;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!canStart) return;
    start.mutate(startBody(request, digest, { ...fields, concurrency }), {
      onError: (error) => {
        if (error instanceof ApiError && error.code === "bulk_action_changed") void preview.refetch();
      },
    });
  };
  useRestoreFocus();
  return (
    <Modal
      opened
      onClose={onClose}
      title={action === "retry" ? "Retry runs" : "Cancel runs"}
      size="xl"
      centered
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Group gap="xs">
            <Text size="sm">{description}</Text>
            <ProjectBadge project={preview.data?.project} />
          </Group>
          <ProjectSelect
            error={preview.error}
            project={project}
            onChange={(to) => {
              setProject(to);
              setVersion(undefined);
              setWorkflow(undefined);
              start.reset();
            }}
          />
          {isChanged && (
            <Alert color="yellow" role="alert" title="The runs have changed">
              <Text size="sm">Nothing was started. This is what would happen now; check it again.</Text>
            </Alert>
          )}
          <PreviewContent query={preview} />
          {action === "retry" && commonWorkflow !== undefined && (
            <VersionSelect
              workflow={commonWorkflow}
              version={version}
              onChange={(to) => {
                setWorkflow(commonWorkflow);
                setVersion(to);
                start.reset();
              }}
            />
          )}
          <SimpleGrid cols={{ base: 1, sm: action === "retry" ? 2 : 1 }}>
            <TextInput
              label="Rate"
              description="Maximum, such as 60/m. Empty: no limit."
              value={fields.rate}
              error={isRateValid ? null : "Write a rate such as 5/s, 60/m or 1000/h."}
              onChange={({ currentTarget: { value } }) => setFields({ ...fields, rate: value })}
            />
            {action === "retry" && (
              <NumberInput
                label="At a time"
                description="Unfinished retries. With 1 they run in order."
                min={1}
                max={MAX_BULK_CONCURRENCY}
                clampBehavior="none"
                allowDecimal={false}
                allowNegative={false}
                value={fields.concurrency}
                error={
                  concurrency === undefined ? `Write a whole number from 1 to ${MAX_BULK_CONCURRENCY}.` : null
                }
                onChange={(value) => setFields({ ...fields, concurrency: value })}
              />
            )}
          </SimpleGrid>
          <Textarea
            label="Reason"
            description="Kept with the bulk action."
            autosize
            maxLength={1_000}
            value={fields.reason}
            onChange={({ currentTarget: { value } }) => setFields({ ...fields, reason: value })}
          />
          {mustCheck && isCurrent && (
            <Checkbox
              label="I have checked that these effects may happen again"
              checked={confirmed.has(digest)}
              onChange={({ currentTarget }) => onConfirm(digest, currentTarget.checked)}
            />
          )}
          {start.isError && !isChanged && <ErrorAlert error={start.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {action === "retry" ? "Cancel" : "Keep them running"}
            </Button>
            <Button
              type="submit"
              color={action === "cancel" ? "red" : "mill"}
              loading={start.isPending}
              disabled={!canStart}
            >
              {startLabel(action, runs)}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Starts a bulk action and opens its page. */
function useStart(onClose: () => void) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const headerFor = useIdempotencyHeader();
  return useSingleFlightMutation({
    mutationFn: async (body: ReturnType<typeof startBody>): Promise<BulkAction> =>
      (await send("post", "/bulk-actions", { body, header: headerFor(body) })).data,
    onSuccess: async ({ id }) => {
      onClose();
      await navigate(`/bulk-actions/${id!}`);
      await Promise.all([
        client.invalidateQueries({ queryKey: bulkActionListKey }),
        client.invalidateQueries({ queryKey: ["runs"] }),
      ]);
    },
  });
}

function PreviewContent({ query }: { query: UseQueryResult<BulkAction> }) {
  const { data, error, isFetching } = query;
  if (error instanceof ApiError && error.code === "run_not_found" && !isFetching)
    return <Text size="sm">No run fits any more, so there is nothing to do.</Text>;
  if (error !== null && ambiguousProjects(error).length === 0 && !isFetching)
    return <ErrorAlert error={error} retry={() => void query.refetch()} />;
  if (error !== null) return null;
  if (data === undefined) return <LoadingSkeleton rows={3} />;
  const { runs, plan, skipped, more } = data;
  return (
    <Stack gap="sm" aria-busy={isFetching} opacity={isFetching ? 0.6 : 1}>
      <Text size="sm" fw={600} role="status">
        {runs.total === 0
          ? "There is nothing to do."
          : `${pluralize(runs.total, "run")} ${data.action === "retry" ? "would be retried" : "would be cancelled"}.`}
      </Text>
      {more === true && <MoreRuns title="More runs fit the filter" />}
      <ScrollArea.Autosize
        mah={360}
        type="auto"
        viewportProps={{ tabIndex: 0, role: "region", "aria-label": "What would happen" }}
      >
        <Stack gap="sm">
          {plan.length > 0 && <Plan plan={plan} inDialog />}
          {skipped.length > 0 && (
            <Section title="Skipped">
              <Skipped bulkAction={data} inDialog />
            </Section>
          )}
        </Stack>
      </ScrollArea.Autosize>
    </Stack>
  );
}

interface ProjectSelectProps {
  error: Error | null;
  project: string | undefined;
  onChange: (project: string) => void;
}

/** Runs of several projects need several bulk actions: asks for one of them. */
function ProjectSelect({ error, project, onChange }: ProjectSelectProps) {
  const { projects } = useProjects();
  const [offered, setOffered] = useState<readonly string[]>([]);
  const found = ambiguousProjects(error);
  if (found.length > 0 && found.join() !== offered.join()) setOffered(found);
  if (offered.length === 0) return null;
  return (
    <Select
      label="Project"
      description="The runs are of several projects. Each project needs a bulk action of its own."
      placeholder="Choose a project"
      data={offered.map((id) => ({ value: id, label: projects.find((one) => one.id === id)?.name ?? id }))}
      value={project ?? null}
      allowDeselect={false}
      onChange={(value) => value !== null && onChange(value)}
    />
  );
}

interface VersionSelectProps {
  workflow: string;
  version: number | undefined;
  onChange: (version: number | undefined) => void;
}

const OWN_VERSION = "own";

function VersionSelect({ workflow, version, onChange }: VersionSelectProps) {
  const query = useInfiniteQuery(versionsQuery(workflow));
  const versions = flattenPages(query.data) ?? [];
  const name = useWorkflowText(workflow);
  return (
    <Select
      label="Version"
      description={
        query.hasNextPage
          ? `The newest ${versions.length} versions of ${name}.`
          : "Steps that the version did not change keep their recorded outputs."
      }
      data={[
        { value: OWN_VERSION, label: "The version of each run" },
        ...versions.map(({ version: number }) => ({ value: String(number), label: `Version ${number}` })),
      ]}
      value={version === undefined ? OWN_VERSION : String(version)}
      allowDeselect={false}
      onChange={(value) => onChange(value === OWN_VERSION || value === null ? undefined : Number(value))}
    />
  );
}
