/** The dialog to create an API key: name, expiration date and scopes. */
import { Button, Checkbox, Group, Modal, Select, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import * as texts from "#texts/keys";
import * as uiTexts from "#texts/ui";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useSession } from "../app/session.tsx";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import type { NewKey } from "./queries.ts";
import { expiryDate, EXPIRY_OPTIONS, type ExpiryOption } from "./expiry-options.ts";
import { type KeyArea, KeyLimits, NO_LIMITS, toRequest } from "./key-limits.tsx";
import { DEFAULT_SCOPES, type Scope, SCOPE_DESCRIPTIONS, SCOPES_WITHIN_WORKFLOWS } from "./scopes.ts";

const ExpiryDatePicker = lazy(() => import("./expiry-date-picker.tsx"));

interface CreateKeyProps {
  onClose: () => void;
  /** Called with the new key. Only this response contains its value. */
  onCreated: (key: NewKey) => void;
}

export function CreateKey({ onClose, onCreated }: CreateKeyProps) {
  useRestoreFocus();
  const { user } = useSession();
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [expiry, setExpiry] = useState<ExpiryOption>("90 days");
  const [customDay, setCustomDay] = useState<string | null>(null);
  const [scopes, setScopes] = useState<Scope[]>(
    DEFAULT_SCOPES.filter((scope) => user.scopes.includes(scope)),
  );
  const [area, setArea] = useState<KeyArea>(NO_LIMITS);
  const [isLimiting, setIsLimiting] = useState(false);
  const isPossible = (scope: Scope): boolean =>
    area.workflows.length === 0 || SCOPES_WITHIN_WORKFLOWS.includes(scope);
  const given = scopes.filter(isPossible);
  // One per dialog, so that a repeated click creates no second key.
  const [header] = useState(idempotencyHeader);
  const create = useSingleFlightMutation({
    mutationFn: () => {
      const expires_at = expiry === "custom" ? (customDay ?? "") : expiryDate(expiry, Date.now());
      return send("post", "/api-keys", {
        body: { name, scopes: given, ...toRequest(area), ...(expires_at !== undefined && { expires_at }) },
        header,
      });
    },
    onSuccess: ({ data }) => {
      void client.invalidateQueries({ queryKey: ["api-keys"] });
      onCreated(data);
    },
  });
  const formError = formLevelError(create.error, ["name", "expires_at", "scopes"]);
  return (
    <Modal opened onClose={onClose} title={texts.createTitle} size="md">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Stack>
          {formError && <ErrorAlert error={formError} />}
          <TextInput
            label={texts.name}
            description={texts.nameHelp}
            placeholder="ci"
            required
            maxLength={100}
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={issueAt(create.error, "name")}
          />
          <Select
            label={texts.expirationDate}
            data={EXPIRY_OPTIONS}
            value={expiry}
            onChange={(value) => value !== null && setExpiry(value)}
            allowDeselect={false}
            error={expiry === "custom" ? undefined : issueAt(create.error, "expires_at")}
          />
          {expiry === "custom" && (
            <Suspense fallback={<Skeleton height={60} />}>
              <ExpiryDatePicker
                value={customDay}
                onChange={setCustomDay}
                error={issueAt(create.error, "expires_at")}
              />
            </Suspense>
          )}
          <Checkbox.Group
            label={texts.scopes}
            description={texts.scopesHelp}
            value={given}
            onChange={setScopes}
            error={issueAt(create.error, "scopes")}
          >
            <Stack gap={6} mt={6}>
              {user.scopes.map((scope) => (
                <Checkbox
                  key={scope}
                  value={scope}
                  label={scope}
                  description={SCOPE_DESCRIPTIONS[scope]}
                  disabled={scope === "read" || !isPossible(scope)}
                />
              ))}
            </Stack>
          </Checkbox.Group>
          <Button
            variant="subtle"
            size="compact-sm"
            style={{ alignSelf: "flex-start" }}
            aria-expanded={isLimiting}
            onClick={() => setIsLimiting(!isLimiting)}
          >
            {texts.limitFurther}
          </Button>
          {isLimiting && <KeyLimits value={area} onChange={setArea} error={create.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {uiTexts.cancel}
            </Button>
            <Button
              type="submit"
              loading={create.isPending}
              disabled={expiry === "custom" && customDay === null}
            >
              {texts.create}
            </Button>
          </Group>
          <Text size="xs" c="dimmed">
            {texts.shownOnce}
          </Text>
        </Stack>
      </form>
    </Modal>
  );
}
