/** The projects of the user; admins of the instance create them here. */
import { Anchor, Badge, Button, Card, Group, Stack, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import * as texts from "#texts/projects";
import type { Project } from "../../../schemas/project.ts";
import { useSession } from "../app/session.tsx";
import { AccessDenied } from "../ui/access-denied.tsx";
import { Page, QueryContent } from "../ui/page.tsx";
import { CreateProject } from "./create-project.tsx";
import { projectsQuery } from "./queries.ts";
import { useProjects } from "./use-projects.tsx";

export default function ProjectList() {
  const { user } = useSession();
  const { several } = useProjects();
  const query = useQuery(projectsQuery);
  const [creating, setCreating] = useState(false);
  const isInstanceAdmin = user.role === "admin";
  if (!isInstanceAdmin && query.data !== undefined && !several)
    return <AccessDenied title={texts.projects} />;
  return (
    <Page
      title={texts.projects}
      about={texts.about}
      actions={
        isInstanceAdmin && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
            {texts.newProject}
          </Button>
        )
      }
    >
      <QueryContent query={query}>
        {(projects) => (
          <Stack
            component="ul"
            gap="xs"
            m={0}
            p={0}
            aria-label={texts.projects}
            style={{ listStyle: "none" }}
          >
            {projects.map((project) => (
              <ProjectCard key={project.id} project={project} />
            ))}
          </Stack>
        )}
      </QueryContent>
      {creating && <CreateProject onClose={() => setCreating(false)} />}
    </Page>
  );
}

function ProjectCard({ project }: { project: Project }) {
  const { id, name, description, review, connections, role } = project;
  return (
    <Card withBorder component="li" p="md">
      <Group justify="space-between" align="flex-start" gap="xs">
        <Stack gap={2} miw={0} flex="1 1 240px">
          <Group gap={8} align="baseline">
            <Anchor component={Link} to={`/projects/${id}`} fw={600} style={{ overflowWrap: "anywhere" }}>
              {name}
            </Anchor>
            <Text size="xs" c="dimmed" ff="monospace" className="left-to-right">
              {id}
            </Text>
          </Group>
          {description !== "" && (
            <Text size="sm" c="dimmed" lineClamp={2} style={{ overflowWrap: "anywhere" }}>
              {description}
            </Text>
          )}
        </Stack>
        <Group gap={6}>
          {review && <Label>{texts.reviewRequired}</Label>}
          {connections === "granted" && <Label>{texts.grantedConnections}</Label>}
          <Label>{texts.yourRole({ role: role ?? "none" })}</Label>
        </Group>
      </Group>
    </Card>
  );
}

function Label({ children }: { children: React.ReactNode }) {
  return (
    <Badge variant="default" tt="none" fw={500}>
      {children}
    </Badge>
  );
}
