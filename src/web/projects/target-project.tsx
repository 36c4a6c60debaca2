/** The project that something new is created in. A user with one project is not asked. */
import { Select } from "@mantine/core";
import { type ReactNode, useState } from "react";
import * as texts from "#texts/projects";
import { useProjects } from "./use-projects.tsx";

/**
 * The chosen project if the user can write in it, else the first one in which they can.
 * @returns the field of the request, and a select to choose another project
 */
export function useTargetProject(): { body: { project?: string }; select: ReactNode } {
  const { projects, several, chosen } = useProjects();
  const [selected, setSelected] = useState<string>();
  if (!several) return { body: {}, select: null };
  const writable = projects.filter(({ scopes }) => scopes.includes("write"));
  const preferred = selected ?? chosen;
  const project = (writable.find(({ id }) => id === preferred) ?? writable[0])?.id;
  return {
    body: project === undefined ? {} : { project },
    select: (
      <Select
        label={texts.project}
        description={texts.targetHelp}
        data={writable.map(({ id, name }) => ({ value: id, label: name }))}
        value={project ?? null}
        onChange={(value) => setSelected(value ?? undefined)}
        allowDeselect={false}
        maw={420}
      />
    ),
  };
}
