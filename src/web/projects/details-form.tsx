/** Name, description and review of a project. */
import { Button, Group, Stack, Switch, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import * as texts from "#texts/projects";
import type { Project } from "../../../schemas/project.ts";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useUpdateProject } from "./use-update-project.ts";

export function DetailsForm({ project, disabled }: { project: Project; disabled: boolean }) {
  const [edited, setEdited] = useState<Partial<Pick<Project, "name" | "description" | "review">>>({});
  const { name, description, review } = { ...project, ...edited };
  const update = useUpdateProject(project);
  const formError = formLevelError(update.error, ["name", "description"]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate(edited, { onSuccess: () => setEdited({}) });
      }}
    >
      <Stack>
        {formError && <ErrorAlert error={formError} />}
        <TextInput
          label={texts.name}
          required
          disabled={disabled}
          value={name}
          onChange={(event) => setEdited({ ...edited, name: event.currentTarget.value })}
          error={issueAt(update.error, "name")}
        />
        <Textarea
          label={texts.description}
          autosize
          minRows={2}
          maxRows={10}
          disabled={disabled}
          value={description}
          onChange={(event) => setEdited({ ...edited, description: event.currentTarget.value })}
          error={issueAt(update.error, "description")}
        />
        <Switch
          label={texts.requireReview}
          description={texts.requireReviewHelp}
          disabled={disabled}
          checked={review}
          onChange={(event) => setEdited({ ...edited, review: event.currentTarget.checked })}
        />
        {!disabled && (
          <Group>
            <Button type="submit" loading={update.isPending} disabled={Object.keys(edited).length === 0}>
              {texts.saveDetails}
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}
