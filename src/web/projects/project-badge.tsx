/**
 * The project that something belongs to, where the user has several. Nothing for the default one, and nothing in a list of one
 * project.
 */
import { Badge } from "@mantine/core";
import { IconFolder } from "@tabler/icons-react";
import * as texts from "#texts/projects";
import { useProjects } from "./use-projects.tsx";

interface ProjectBadgeProps {
  project: string | undefined;
  /** Whether it is shown in a list that the chosen project filters. */
  inList?: boolean;
}

export function ProjectBadge({ project, inList = false }: ProjectBadgeProps) {
  const { projects, several, chosen } = useProjects();
  if (!several || project === undefined || (inList && chosen !== undefined)) return null;
  const name = projects.find(({ id }) => id === project)?.name ?? project;
  return (
    <Badge
      variant="default"
      tt="none"
      fw={500}
      maw={180}
      leftSection={<IconFolder size={12} aria-hidden />}
      title={texts.projectNamed({ name })}
    >
      {name}
    </Badge>
  );
}
