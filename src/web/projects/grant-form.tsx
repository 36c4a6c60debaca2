/** The form that grants a connection, by its name in the configuration. */
import {
  Alert,
  Autocomplete,
  Button,
  Checkbox,
  Group,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/projects";
import type { Issue } from "../../../schemas/problem.ts";
import type { GrantKind, Project } from "../../../schemas/project.ts";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { send } from "../api/client.ts";
import { notifySuccess } from "../ui/notify.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { GRANT_KIND_LABELS } from "./connection-options.ts";
import { grantableNamesQuery } from "./queries.ts";

interface Options {
  readOnly: boolean;
  role: string;
  tools: string[];
}

const NO_OPTIONS: Options = { readOnly: false, role: "", tools: [] };

/** The options that a kind has, as the request has them. */
const toBody = (kind: GrantKind, { readOnly, role, tools }: Options) => ({
  ...(kind === "database" && readOnly && { access: "read-only" as const }),
  ...(kind === "database" && role.trim() !== "" && { role: role.trim() }),
  ...(kind === "mcp_server" && tools.length > 0 && { tools }),
});

export function GrantForm({ project }: { project: Project }) {
  const client = useQueryClient();
  const names = useQuery(grantableNamesQuery);
  const [kind, setKind] = useState<GrantKind>("database");
  const [name, setName] = useState("");
  const [options, setOptions] = useState(NO_OPTIONS);
  const [warnings, setWarnings] = useState<readonly Issue[]>([]);
  const add = useSingleFlightMutation({
    mutationFn: () =>
      send("put", "/projects/{project}/grants/{kind}/{name}", {
        path: { project: project.id, kind, name: name.trim() },
        body: toBody(kind, options),
      }),
    onSuccess: ({ data }) => {
      notifySuccess(texts.granted({ name: data.name, project: project.name }));
      setWarnings(data.warnings ?? []);
      setName("");
      setOptions(NO_OPTIONS);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["projects"] }),
  });
  const formError = formLevelError(add.error, ["name", "role", "tools"]);
  return (
    <form
      aria-label={texts.grantConnection}
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <Stack gap="xs">
        {formError && <ErrorAlert error={formError} />}
        {warnings.length > 0 && (
          <Alert color="yellow" role="status" title={texts.grantedWithWarning}>
            {warnings.map(({ path, message, did_you_mean: near }) => (
              <Text key={path} size="sm">
                {path} {message}.{near !== undefined && ` ${texts.didYouMean({ name: near })}`}
              </Text>
            ))}
          </Alert>
        )}
        <Group align="flex-start" gap="xs">
          <Select
            label={texts.kind}
            data={Object.entries(GRANT_KIND_LABELS).map(([value, label]) => ({ value, label }))}
            value={kind}
            onChange={(value) => {
              if (value === null) return;
              setKind(value as GrantKind);
              setName("");
              setOptions(NO_OPTIONS);
              add.reset();
            }}
            allowDeselect={false}
            w={160}
          />
          <Autocomplete
            label={texts.name}
            required
            placeholder={kind === "host" ? "api.example.com" : ""}
            data={names.data?.[kind] ?? []}
            value={name}
            onChange={setName}
            error={issueAt(add.error, "name")}
            flex="1 1 200px"
          />
          <Button type="submit" variant="default" loading={add.isPending} mt={25}>
            {texts.grant}
          </Button>
        </Group>
        {kind === "database" && (
          <Group gap="lg" align="flex-start">
            <TextInput
              label={texts.optionalRole}
              description={texts.databaseRoleHelp}
              autoComplete="off"
              value={options.role}
              onChange={(event) => setOptions({ ...options, role: event.currentTarget.value })}
              error={issueAt(add.error, "role")}
              flex="1 1 240px"
            />
            <Checkbox
              label={texts.readOnly}
              description={texts.readOnlyHelp}
              checked={options.readOnly}
              onChange={(event) => setOptions({ ...options, readOnly: event.currentTarget.checked })}
              flex="1 1 200px"
              mt={25}
            />
          </Group>
        )}
        {kind === "mcp_server" && (
          <TagsInput
            label={texts.optionalTools}
            description={texts.toolsHelp}
            value={options.tools}
            onChange={(tools) => setOptions({ ...options, tools })}
            error={issueAt(add.error, "tools")}
          />
        )}
      </Stack>
    </form>
  );
}
