/** Over the page of somebody whose session has ended: they sign in again, and go on where they were. */
import { Button, Group, Modal, PasswordInput, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { send } from "../api/client.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import type { AuthMode } from "../../../schemas/user.ts";
import { refetchFailedQueries, sessionQuery, notifyOtherTabs, useSignOutTo } from "./session.tsx";
import { SsoReauthentication } from "./sso-reauthentication.tsx";

/** Above every other dialog. */
const Z_INDEX = 350;

export function ReauthenticationDialog({ email, mode }: { email: string; mode: AuthMode }) {
  useRestoreFocus();
  const leave = useSignOutTo();
  return (
    <Modal
      opened
      onClose={() => leave("/sign-in")}
      title="You are signed out"
      centered
      zIndex={Z_INDEX}
      overlayProps={{ blur: 6 }}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      {mode === "built-in" ? <ByPassword email={email} /> : <SsoReauthentication email={email} mode={mode} />}
    </Modal>
  );
}

function ByPassword({ email }: { email: string }) {
  const client = useQueryClient();
  const leave = useSignOutTo();
  const [password, setPassword] = useState("");
  const signIn = useMutation({
    mutationFn: () => send("post", "/session", { body: { email, password } }),
    onSuccess: ({ data }) => {
      client.setQueryData(sessionQuery.queryKey, data);
      notifyOtherTabs();
      refetchFailedQueries(client);
    },
  });
  const other = formLevelError(signIn.error, ["password"]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate();
      }}
    >
      <Stack>
        <Text size="sm">
          Your session has ended. What you were writing is still here: sign in again as <b>{email}</b> to go
          on with it.
        </Text>
        {other && <ErrorAlert error={other} />}
        {/* For the browser, which keeps passwords by address. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          data-autofocus
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={issueAt(signIn.error, "password")}
          visibilityToggleButtonProps={{ "aria-label": "Show the password", tabIndex: 0 }}
        />
        <Group justify="space-between">
          <Button variant="default" onClick={() => leave("/sign-in")}>
            Sign in as somebody else
          </Button>
          <Button type="submit" loading={signIn.isPending}>
            Sign in
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
