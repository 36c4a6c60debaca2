/** The fields of the dialog to create a key that limit it: projects, workflows, tools, databases and models. */
import { Stack, TagsInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import * as texts from "#texts/keys";
import { issueAt } from "../account/form-errors.ts";
import { limitChoicesQuery } from "./queries.ts";

export interface KeyArea {
  projects: string[];
  workflows: string[];
  tools: string[];
  databases: string[];
  models: string[];
}

export const NO_LIMITS: KeyArea = { projects: [], workflows: [], tools: [], databases: [], models: [] };

/** The fields of a request; what is empty is left out, so it is not limited. */
export function toRequest({ projects, ...limits }: KeyArea) {
  const given = Object.fromEntries(Object.entries(limits).filter(([, names]) => names.length > 0));
  return {
    ...(projects.length > 0 && { projects }),
    ...(Object.keys(given).length > 0 && { limits: given }),
  };
}

interface KeyLimitsProps {
  value: KeyArea;
  onChange: (value: KeyArea) => void;
  error: Error | null;
}

export function KeyLimits({ value, onChange, error }: KeyLimitsProps) {
  const { data: choices } = useQuery(limitChoicesQuery);
  const field = (name: keyof KeyArea) => ({
    value: value[name],
    onChange: (names: string[]) => onChange({ ...value, [name]: names }),
    error: issueAt(error, name === "projects" ? name : `limits.${name}`),
    clearable: true,
    placeholder: value[name].length === 0 && name !== "projects" ? texts.all : "",
  });
  return (
    <Stack>
      {choices !== undefined && choices.projects.length > 1 && (
        <TagsInput
          label={texts.projects}
          description={texts.projectsHelp}
          data={choices.projects}
          {...field("projects")}
        />
      )}
      <TagsInput
        label={texts.workflows}
        description={texts.workflowsHelp}
        data={choices?.workflows ?? []}
        {...field("workflows")}
      />
      <TagsInput label={texts.tools} description={texts.toolsHelp} {...field("tools")} />
      <TagsInput label={texts.databases} data={choices?.databases ?? []} {...field("databases")} />
      <TagsInput label={texts.models} data={choices?.models ?? []} {...field("models")} />
    </Stack>
  );
}
