/** The dialog to create a project. */
import { Alert, Button, Group, Modal, Radio, Stack, Textarea, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import * as texts from "#texts/projects";
import * as uiTexts from "#texts/ui";
import type { Project } from "../../../schemas/project.ts";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { CONNECTION_OPTIONS } from "./connection-options.ts";
import { useProjects } from "./use-projects.tsx";

const FIELDS = ["name", "id", "description"];

export function CreateProject({ onClose }: { onClose: () => void }) {
  useRestoreFocus();
  const { several } = useProjects();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [id, setId] = useState("");
  const [description, setDescription] = useState("");
  const [connections, setConnections] = useState<Project["connections"]>("granted");
  const [header] = useState(idempotencyHeader);
  const create = useSingleFlightMutation({
    mutationFn: () =>
      send("post", "/projects", {
        header,
        body: { name, description, connections, ...(id.trim() !== "" && { id: id.trim() }) },
      }),
    onSuccess: async ({ data }) => {
      await client.invalidateQueries({ queryKey: ["projects"] });
      await navigate(`/projects/${data.id}`);
    },
  });
  const formError = formLevelError(create.error, FIELDS);
  return (
    <Modal opened onClose={onClose} title={texts.newProject} size="md">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Stack>
          {formError && <ErrorAlert error={formError} />}
          {!several && (
            <Alert color="gray" role="note">
              {texts.secondProject}
            </Alert>
          )}
          <TextInput
            label={texts.name}
            required
            data-autofocus
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={issueAt(create.error, "name")}
          />
          <TextInput
            label={texts.optionalId}
            description={texts.idHelp}
            autoComplete="off"
            value={id}
            onChange={(event) => setId(event.currentTarget.value)}
            error={issueAt(create.error, "id")}
          />
          <Textarea
            label={texts.optionalDescription}
            autosize
            minRows={2}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            error={issueAt(create.error, "description")}
          />
          <Radio.Group label={texts.connections} value={connections} onChange={setConnections}>
            <Stack gap="xs" mt="xs">
              {CONNECTION_OPTIONS.map((option) => (
                <Radio key={option.value} {...option} />
              ))}
            </Stack>
          </Radio.Group>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {uiTexts.cancel}
            </Button>
            <Button type="submit" loading={create.isPending}>
              {texts.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
