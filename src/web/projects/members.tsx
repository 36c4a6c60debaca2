/** The people with a role in a project. */
import { Anchor, Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import * as texts from "#texts/projects";
import type { Project, ProjectMember } from "../../../schemas/project.ts";
import { DEFAULT_PROJECT } from "../../../schemas/project-ids.ts";
import type { Role } from "../../../schemas/user.ts";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { send } from "../api/client.ts";
import { useSession } from "../app/session.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { ErrorAlert, QueryContent } from "../ui/page.tsx";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { membersQuery } from "./queries.ts";

const ROLES: readonly Role[] = ["viewer", "editor", "admin"];
const ROLE_OPTIONS = ROLES.map((role) => ({ value: role, label: texts.roleName({ role }) }));

const peopleLink = (text: ReactNode) => (
  <Anchor component={Link} to="/people" size="sm" underline="always">
    {text}
  </Anchor>
);

export function Members({ project, isAdmin }: { project: Project; isAdmin: boolean }) {
  if (project.id === DEFAULT_PROJECT) {
    return <Text size="sm">{texts.roleOnPeoplePage({ link: peopleLink })}</Text>;
  }
  if (!isAdmin) {
    return (
      <Text size="sm" c="dimmed">
        {texts.membersLocked}
      </Text>
    );
  }
  return <MemberList project={project} />;
}

function MemberList({ project }: { project: Project }) {
  const query = useQuery(membersQuery(project.id));
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {texts.membersHelp}
      </Text>
      <AddMember project={project} />
      <QueryContent query={query}>
        {(members) =>
          members.length === 0 ? (
            <Text size="sm">{texts.noMembers}</Text>
          ) : (
            <Stack
              component="ul"
              gap="xs"
              m={0}
              p={0}
              aria-label={texts.members}
              style={{ listStyle: "none" }}
            >
              {members.map((member) => (
                <Member key={member.email} project={project} member={member} />
              ))}
            </Stack>
          )
        }
      </QueryContent>
    </Stack>
  );
}

/** A mutation that gives a person a role, in place of an earlier one. */
function useSetMember({ id }: Project) {
  const client = useQueryClient();
  return useSingleFlightMutation({
    mutationFn: ({ email, role }: { email: string; role: Role }) =>
      send("put", "/projects/{project}/members/{email}", { path: { project: id, email }, body: { role } }),
    onSuccess: ({ data }) => notifySuccess(texts.hasRole(data)),
    onSettled: () => client.invalidateQueries({ queryKey: ["projects"] }),
  });
}

function AddMember({ project }: { project: Project }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("editor");
  const add = useSetMember(project);
  const formError = formLevelError(add.error, ["email", "role"]);
  return (
    <form
      aria-label={texts.addAMember}
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate({ email, role }, { onSuccess: () => setEmail("") });
      }}
    >
      <Stack gap="xs">
        {formError && <ErrorAlert error={formError} />}
        <Group align="flex-start" gap="xs">
          <TextInput
            label={texts.email}
            type="email"
            required
            autoComplete="off"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={issueAt(add.error, "email")}
            flex="1 1 220px"
          />
          <Select
            label={texts.role}
            data={ROLE_OPTIONS}
            value={role}
            onChange={(value) => value !== null && setRole(value)}
            allowDeselect={false}
            w={130}
          />
          <Button type="submit" variant="default" loading={add.isPending} mt={25}>
            {texts.addMember}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Member({ project, member: { email, role } }: { project: Project; member: ProjectMember }) {
  const client = useQueryClient();
  const { user } = useSession();
  const change = useSetMember(project);
  const remove = useSingleFlightMutation({
    mutationFn: () =>
      send("delete", "/projects/{project}/members/{email}", { path: { project: project.id, email } }),
    onSuccess: () => notifySuccess(texts.memberRemoved({ email, project: project.name })),
    onError: (error) => notifyError(texts.removeFailed({ email }), error),
    onSettled: () => client.invalidateQueries({ queryKey: ["projects"] }),
  });
  const isYou = email === user.email;
  return (
    <Group component="li" justify="space-between" gap="xs">
      <Text size="sm" style={{ overflowWrap: "anywhere" }} flex="1 1 200px">
        {isYou ? texts.memberYou({ email }) : email}
      </Text>
      <Group gap="xs" wrap="nowrap">
        <Select
          aria-label={texts.roleOf({ email })}
          data={ROLE_OPTIONS}
          value={role}
          onChange={(to) =>
            to !== null &&
            to !== role &&
            change.mutate(
              { email, role: to },
              { onError: (error) => notifyError(texts.roleFailed({ email }), error) },
            )
          }
          allowDeselect={false}
          disabled={change.isPending}
          w={130}
        />
        <Button
          variant="default"
          aria-label={texts.removeMember({ email })}
          loading={remove.isPending}
          onClick={() =>
            confirmAction({
              title: texts.removeTitle({ email, project: project.name }),
              consequence: isYou ? texts.removeYourself : texts.removeOther,
              confirm: texts.remove,
              onConfirm: () => remove.mutate(),
            })
          }
        >
          {texts.remove}
        </Button>
      </Group>
    </Group>
  );
}
