import { Button, Group, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/account";
import { send } from "../api/client.ts";
import { notifySuccess } from "../ui/notify.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { formLevelError, issueAt } from "./form-errors.ts";
import { PasswordField } from "./password-field.tsx";

/** The form that replaces the password. The server then ends every other session. */
export function ChangePassword({ email }: { email: string }) {
  const client = useQueryClient();
  const [currentPassword, setCurrentPassword] = useState("");
  const [password, setPassword] = useState("");
  const change = useMutation({
    mutationFn: () =>
      send("post", "/session/change-password", { body: { current_password: currentPassword, password } }),
    onSuccess: () => {
      setCurrentPassword("");
      setPassword("");
      notifySuccess(texts.passwordChanged);
      void client.invalidateQueries({ queryKey: ["sessions"] });
    },
  });
  const formError = formLevelError(change.error, ["current_password", "password"]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <Stack maw={420}>
        {formError && <ErrorAlert error={formError} />}
        {/* Tells password managers which account the password belongs to. */}
        <TextInput
          type="email"
          autoComplete="username"
          value={email}
          readOnly
          display="none"
          label={texts.email}
        />
        <PasswordInput
          label={texts.currentPassword}
          autoComplete="current-password"
          required
          value={currentPassword}
          onChange={(event) => setCurrentPassword(event.currentTarget.value)}
          error={issueAt(change.error, "current_password")}
          visibilityToggleButtonProps={{ "aria-label": texts.showCurrentPassword, tabIndex: 0 }}
        />
        <PasswordField
          label={texts.newPassword}
          value={password}
          onChange={setPassword}
          email={email}
          error={issueAt(change.error, "password")}
        />
        <Group>
          <Button type="submit" loading={change.isPending}>
            {texts.changePassword}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
