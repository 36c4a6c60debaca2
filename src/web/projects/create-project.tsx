/** The dialog to create a project. */
import { Alert, Button, Group, Modal, Radio, Stack, Textarea, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
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
    <Modal opened onClose={onClose} title="New project" size="md">
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
              With a second project, everybody who has a role in both can switch between them. What exists now
              stays in the project Default, with the same rights.
            </Alert>
          )}
          <TextInput
            label="Name"
            required
            data-autofocus
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={issueAt(create.error, "name")}
          />
          <TextInput
            label="ID (optional)"
            description="Lower-case letters, digits and dashes; made from the name if left out. The IDs of new workflows begin with it, and it can't be changed."
            autoComplete="off"
            value={id}
            onChange={(event) => setId(event.currentTarget.value)}
            error={issueAt(create.error, "id")}
          />
          <Textarea
            label="Description (optional)"
            autosize
            minRows={2}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            error={issueAt(create.error, "description")}
          />
          <Radio.Group label="Connections" value={connections} onChange={setConnections}>
            <Stack gap="xs" mt="xs">
              {CONNECTION_OPTIONS.map((option) => (
                <Radio key={option.value} {...option} />
              ))}
            </Stack>
          </Radio.Group>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create project
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
