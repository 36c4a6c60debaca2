/** The people with a role in a project. */
import { Anchor, Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import type { Project, ProjectMember } from "../../../schemas/project.ts";
import { DEFAULT_PROJECT } from "../../../schemas/project-ids.ts";
import type { Role } from "../../../schemas/user.ts";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { send } from "../api/client.ts";
import { useSession } from "../app/session.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { MAIL_ADDRESS_INPUT } from "../ui/mail-address-input.ts";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { ErrorAlert, QueryContent } from "../ui/page.tsx";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { membersQuery } from "./queries.ts";

const ROLES: Role[] = ["viewer", "editor", "admin"];

export function Members({ project, isAdmin }: { project: Project; isAdmin: boolean }) {
  if (project.id === DEFAULT_PROJECT) {
    return (
      <Text size="sm">
        In this project everybody has the role that is set on the page{" "}
        <Anchor component={Link} to="/people" size="sm" underline="always">
          People
        </Anchor>
        .
      </Text>
    );
  }
  if (!isAdmin) {
    return (
      <Text size="sm" c="dimmed">
        Only admins of this project see and change its members.
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
        A role applies from the next request on. An address needs no account yet, then the role applies from
        the first sign-in; nothing here tells whether there is one. Admins of the instance have every right
        without being listed.
      </Text>
      <AddMember project={project} />
      <QueryContent query={query}>
        {(members) =>
          members.length === 0 ? (
            <Text size="sm">No members yet.</Text>
          ) : (
            <Stack component="ul" gap="xs" m={0} p={0} aria-label="Members" style={{ listStyle: "none" }}>
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
    onSuccess: ({ data }) => notifySuccess(`${data.email} has the role ${data.role}.`),
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
      aria-label="Add a member"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate({ email, role }, { onSuccess: () => setEmail("") });
      }}
    >
      <Stack gap="xs">
        {formError && <ErrorAlert error={formError} />}
        <Group align="flex-start" gap="xs">
          <TextInput
            label="E-mail address"
            {...MAIL_ADDRESS_INPUT}
            required
            autoComplete="off"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={issueAt(add.error, "email")}
            flex="1 1 220px"
          />
          <Select
            label="Role"
            data={ROLES}
            value={role}
            onChange={(value) => value !== null && setRole(value)}
            allowDeselect={false}
            w={120}
          />
          <Button type="submit" variant="default" loading={add.isPending} mt={25}>
            Add member
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
    onSuccess: () => notifySuccess(`${email} has no role in “${project.name}” any more.`),
    onError: (error) => notifyError(`Couldn't remove ${email}`, error),
    onSettled: () => client.invalidateQueries({ queryKey: ["projects"] }),
  });
  const isYou = email === user.email;
  return (
    <Group component="li" justify="space-between" gap="xs">
      <Text size="sm" style={{ overflowWrap: "anywhere" }} flex="1 1 200px">
        {email}
        {isYou && " (you)"}
      </Text>
      <Group gap="xs" wrap="nowrap">
        <Select
          aria-label={`Role of ${email}`}
          data={ROLES}
          value={role}
          onChange={(to) =>
            to !== null &&
            to !== role &&
            change.mutate(
              { email, role: to },
              { onError: (error) => notifyError(`Couldn't change the role of ${email}`, error) },
            )
          }
          allowDeselect={false}
          disabled={change.isPending}
          w={110}
        />
        <Button
          variant="default"
          aria-label={`Remove ${email}`}
          loading={remove.isPending}
          onClick={() =>
            confirmAction({
              title: `Remove ${email} from “${project.name}”?`,
              consequence: isYou
                ? "You can't open this project any more, unless you are an admin of the instance."
                : "From now on they and their API keys can't open anything in this project.",
              confirm: "Remove",
              onConfirm: () => remove.mutate(),
            })
          }
        >
          Remove
        </Button>
      </Group>
    </Group>
  );
}
