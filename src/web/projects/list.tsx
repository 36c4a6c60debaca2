/** The projects of the user; admins of the instance create them here. */
import { Anchor, Badge, Button, Card, Group, Stack, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
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
  if (!isInstanceAdmin && query.data !== undefined && !several) return <AccessDenied title="Projects" />;
  return (
    <Page
      title="Projects"
      about="Each team sees and changes only the workflows, runs and approvals of its projects. As long as there is one project, no other page mentions it."
      actions={
        isInstanceAdmin && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
            New project
          </Button>
        )
      }
    >
      <QueryContent query={query}>
        {(projects) => (
          <Stack component="ul" gap="xs" m={0} p={0} aria-label="Projects" style={{ listStyle: "none" }}>
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
            <Text size="xs" c="dimmed" ff="monospace">
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
          {review && <Label>review required</Label>}
          {connections === "granted" && <Label>granted connections</Label>}
          <Label>your role: {role ?? "none"}</Label>
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
