/** A project: what it is, what it may use, who its members are. */
import { Badge, Button, Card, Code, Group, Stack, Text, Title } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useId } from "react";
import { useNavigate, useParams } from "react-router";
import * as texts from "#texts/projects";
import type { Project } from "../../../schemas/project.ts";
import { DEFAULT_PROJECT } from "../../../schemas/project-ids.ts";
import { send } from "../api/client.ts";
import { useSession } from "../app/session.tsx";
import { AccessDenied } from "../ui/access-denied.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { notifySuccess } from "../ui/notify.ts";
import { ErrorAlert, Page, QueryContent } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { DetailsForm } from "./details-form.tsx";
import { Grants } from "./grants.tsx";
import { LimitsForm } from "./limits-form.tsx";
import { Members } from "./members.tsx";
import { projectQuery, projectsQuery } from "./queries.ts";
import { useProjects } from "./use-projects.tsx";

export default function ProjectPage() {
  const { projectId = "" } = useParams();
  const { user } = useSession();
  const { several } = useProjects();
  const projects = useQuery(projectsQuery);
  const query = useQuery(projectQuery(projectId));
  if (user.role !== "admin" && projects.data !== undefined && !several)
    return <AccessDenied title={texts.project} />;
  if (query.data === undefined) {
    return (
      <Page title={projectId}>
        <QueryContent query={query}>{() => null}</QueryContent>
      </Page>
    );
  }
  return <ProjectDetails key={projectId} project={query.data} isInstanceAdmin={user.role === "admin"} />;
}

function ProjectDetails({ project, isInstanceAdmin }: { project: Project; isInstanceAdmin: boolean }) {
  const { id, name, scopes, role, created_at: created, created_by: by } = project;
  const isAdmin = isInstanceAdmin || scopes.includes("admin");
  return (
    <Page
      title={name}
      about={
        <Group gap="xs">
          <Code>{id}</Code>
          <Badge variant="default" tt="none" fw={500}>
            {texts.yourRole({ role: role ?? "none" })}
          </Badge>
          {id !== DEFAULT_PROJECT && <span>{texts.created({ ago: <Time at={created} ago />, by })}</span>}
        </Group>
      }
    >
      <Stack gap="lg" maw={900}>
        <Panel title={texts.details} locked={!isAdmin && texts.detailsLocked}>
          <DetailsForm project={project} disabled={!isAdmin} />
        </Panel>
        <Panel title={texts.members}>
          <Members project={project} isAdmin={isAdmin} />
        </Panel>
        <Panel title={texts.connectionsAndLimits} locked={!isInstanceAdmin && texts.limitsLocked}>
          <LimitsForm project={project} disabled={!isInstanceAdmin} />
        </Panel>
        <Panel title={texts.grants} locked={!isInstanceAdmin && texts.grantsLocked}>
          <Grants project={project} disabled={!isInstanceAdmin} />
        </Panel>
        {isInstanceAdmin && (
          <Panel title={texts.deletePanel}>
            <DeleteProject project={project} />
          </Panel>
        )}
      </Stack>
    </Page>
  );
}

/** @param locked why nothing in it can be changed */
function Panel({
  title,
  locked = false,
  children,
}: {
  title: string;
  locked?: string | false;
  children: ReactNode;
}) {
  const heading = useId();
  return (
    <Card withBorder component="section" aria-labelledby={heading} p="lg">
      <Title order={2} size="h4" mb="sm" id={heading}>
        {title}
      </Title>
      {locked !== false && (
        <Text size="sm" c="dimmed" mb="sm">
          {locked}
        </Text>
      )}
      {children}
    </Card>
  );
}

function DeleteProject({ project: { id, name } }: { project: Project }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useSingleFlightMutation({
    mutationFn: () => send("delete", "/projects/{project}", { path: { project: id } }),
    onSuccess: async () => {
      notifySuccess(texts.deleted({ name }));
      await navigate("/projects");
      await client.invalidateQueries({ queryKey: ["projects"] });
    },
  });
  const isDefault = id === DEFAULT_PROJECT;
  return (
    <Stack gap="sm" align="flex-start">
      {remove.isError && <ErrorAlert error={remove.error} />}
      <Text size="sm">{isDefault ? texts.defaultNotDeletable : texts.deleteHelp}</Text>
      <Button
        color="red"
        variant="light"
        leftSection={<IconTrash size={16} aria-hidden />}
        disabled={isDefault}
        loading={remove.isPending}
        onClick={() =>
          confirmAction({
            title: texts.deleteTitle({ name }),
            consequence: texts.deleteConsequence,
            confirm: texts.deleteConfirm,
            onConfirm: () => remove.mutate(),
          })
        }
      >
        {texts.deleteProject}
      </Button>
    </Stack>
  );
}
