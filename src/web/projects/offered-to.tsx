/** Which other projects may call a workflow; nothing for one that is not offered. */
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import * as texts from "#texts/projects";
import { EVERY_PROJECT } from "../../../schemas/project-ids.ts";
import { offerQuery } from "./queries.ts";
import { useProjects } from "./use-projects.tsx";

export function OfferedTo({ workflowId }: { workflowId: string }) {
  const { projects, several } = useProjects();
  const { data: offer } = useQuery({ ...offerQuery(workflowId), enabled: several });
  if (!several || offer === undefined || offer.projects.length === 0) return null;
  const names = offer.projects.map((id) => projects.find((project) => project.id === id)?.name ?? id);
  return (
    <Text size="sm">
      {offer.projects.includes(EVERY_PROJECT)
        ? texts.offeredToAll
        : texts.offeredToNamed({ count: names.length, names: names.join(", ") })}
    </Text>
  );
}
