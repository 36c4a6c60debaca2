import { Button, Group, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../api/client.ts";
import { notifySuccess } from "../ui/notify.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { formLevelError, issueAt } from "./form-errors.ts";
import { PasswordField } from "./password-field.tsx";

/** A new password, with the present one; every other session ends. */
export function ChangePassword({ email }: { email: string }) {
  const client = useQueryClient();
  const [present, setPresent] = useState("");
  const [password, setPassword] = useState("");
  const change = useMutation({
    mutationFn: () =>
      send("post", "/session/change-password", { body: { current_password: present, password } }),
    onSuccess: () => {
      setPresent("");
      setPassword("");
      notifySuccess("The password is changed, and you are signed out everywhere else.");
      void client.invalidateQueries({ queryKey: ["sessions"] });
    },
  });
  const other = formLevelError(change.error, ["current_password", "password"]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <Stack maw={420}>
        {other && <ErrorAlert error={other} />}
        {/* For password managers: whose password it is. */}
        <TextInput
          type="email"
          autoComplete="username"
          value={email}
          readOnly
          display="none"
          label="E-mail address"
        />
        <PasswordInput
          label="Present password"
          autoComplete="current-password"
          required
          value={present}
          onChange={(event) => setPresent(event.currentTarget.value)}
          error={issueAt(change.error, "current_password")}
          visibilityToggleButtonProps={{ "aria-label": "Show the present password", tabIndex: 0 }}
        />
        <PasswordField
          label="New password"
          value={password}
          onChange={setPassword}
          email={email}
          error={issueAt(change.error, "password")}
        />
        <Group>
          <Button type="submit" loading={change.isPending}>
            Change the password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
