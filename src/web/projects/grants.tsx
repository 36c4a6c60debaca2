/** What a project is granted. Its members see it; admins of the instance change it. */
import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import * as texts from "#texts/projects";
import type { Grant, Project } from "../../../schemas/project.ts";
import { send } from "../api/client.ts";
import { confirmAction } from "../ui/confirm.tsx";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { QueryContent } from "../ui/page.tsx";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { GRANT_KIND_LABELS } from "./connection-options.ts";
import { GrantForm } from "./grant-form.tsx";
import { grantsQuery } from "./queries.ts";

export function Grants({ project, disabled }: { project: Project; disabled: boolean }) {
  const query = useQuery(grantsQuery(project.id));
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {project.connections === "all" ? texts.grantsOfAll : texts.grantsHelp}
      </Text>
      {!disabled && <GrantForm project={project} />}
      <QueryContent query={query}>
        {(grants) =>
          grants.length === 0 ? (
            <Text size="sm">{texts.noGrants}</Text>
          ) : (
            <Stack
              component="ul"
              gap="xs"
              m={0}
              p={0}
              aria-label={texts.grants}
              style={{ listStyle: "none" }}
            >
              {grants.map((grant) => (
                <GrantRow
                  key={`${grant.kind} ${grant.name}`}
                  project={project}
                  grant={grant}
                  disabled={disabled}
                />
              ))}
            </Stack>
          )
        }
      </QueryContent>
    </Stack>
  );
}

function GrantRow({ project, grant, disabled }: { project: Project; grant: Grant; disabled: boolean }) {
  const { kind, name } = grant;
  const client = useQueryClient();
  const revoke = useSingleFlightMutation({
    mutationFn: () =>
      send("delete", "/projects/{project}/grants/{kind}/{name}", {
        path: { project: project.id, kind, name },
      }),
    onSuccess: () => notifySuccess(texts.revoked(grant)),
    onError: (error) => notifyError(texts.revokeFailed(grant), error),
    onSettled: () => client.invalidateQueries({ queryKey: ["projects"] }),
  });
  const options = optionsLabel(grant);
  return (
    <Group component="li" justify="space-between" gap="xs">
      <Text size="sm" component="div" style={{ overflowWrap: "anywhere" }} flex="1 1 200px">
        <Text span c="dimmed" inherit>
          {GRANT_KIND_LABELS[kind]}
        </Text>{" "}
        <Text span fw={600} inherit>
          {name}
        </Text>
        {options !== "" && ` · ${options}`}
      </Text>
      {!disabled && (
        <Button
          variant="default"
          size="xs"
          aria-label={texts.revokeGrant(grant)}
          loading={revoke.isPending}
          onClick={() =>
            confirmAction({
              title: texts.revokeTitle(grant),
              consequence: texts.revokeConsequence({ project: project.name }),
              confirm: texts.revoke,
              onConfirm: () => revoke.mutate(),
            })
          }
        >
          {texts.revoke}
        </Button>
      )}
    </Group>
  );
}

const optionsLabel = ({ access, role, tools }: Grant): string =>
  [
    access !== undefined && texts.readOnlyAccess,
    role !== undefined && texts.databaseRole({ role }),
    tools !== undefined &&
      (tools.length === 0 ? texts.noTools : texts.onlyTools({ tools: tools.join(", ") })),
  ]
    .filter(Boolean)
    .join(" · ");
