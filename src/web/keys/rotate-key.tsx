/** The dialog to rotate a key: creates its successor, and keeps the old key active for a while. */
import { Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiKey } from "../../../schemas/api-key.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import type { NewKey } from "./queries.ts";

const OVERLAP_OPTIONS = [
  { value: "0s", label: "No time: revoke it now" },
  { value: "1h", label: "1 hour" },
  { value: "24h", label: "24 hours" },
  { value: "7d", label: "7 days" },
  { value: "30d", label: "30 days" },
];

interface RotateKeyProps {
  apiKey: ApiKey;
  onClose: () => void;
  onRotated: (key: NewKey) => void;
}

export function RotateKey({ apiKey, onClose, onRotated }: RotateKeyProps) {
  useRestoreFocus();
  const client = useQueryClient();
  const [overlap, setOverlap] = useState("24h");
  const [header] = useState(idempotencyHeader);
  const rotate = useSingleFlightMutation({
    mutationFn: () =>
      send("post", "/api-keys/{key_id}/rotate", { path: { key_id: apiKey.id }, body: { overlap }, header }),
    onSuccess: ({ data }) => {
      void client.invalidateQueries({ queryKey: ["api-keys"] });
      onRotated(data);
    },
  });
  return (
    <Modal opened onClose={onClose} title={`Rotate the key "${apiKey.name}"`}>
      <Stack>
        {rotate.error && <ErrorAlert error={rotate.error} />}
        <Text size="sm">
          You get a new key with the same name and scopes. The old key, which ends in {apiKey.last_four}, can
          keep working for a while so that you have time to replace it.
        </Text>
        <Select
          label="Keep the old key active for"
          data={OVERLAP_OPTIONS}
          value={overlap}
          onChange={(value) => value !== null && setOverlap(value)}
          allowDeselect={false}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button onClick={() => rotate.mutate()} loading={rotate.isPending}>
            Rotate
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
