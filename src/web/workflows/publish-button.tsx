/** Opens the publish dialog; off, with the reason in a tooltip, while the definition can't be published. */
import { Button, Tooltip, VisuallyHidden } from "@mantine/core";
import { IconBroadcast } from "@tabler/icons-react";
import { useId } from "react";
import * as texts from "#texts/workflows";

export function PublishButton({ whyNot, onPublish }: { whyNot: string | undefined; onPublish: () => void }) {
  const id = useId();
  const isOff = whyNot !== undefined;
  return (
    <>
      <Tooltip
        label={whyNot}
        disabled={!isOff}
        multiline
        maw={320}
        events={{ hover: true, focus: true, touch: true }}
      >
        {/* Not `disabled`, so that the keyboard reaches the reason. */}
        <Button
          leftSection={<IconBroadcast size={16} aria-hidden />}
          {...(isOff && { "data-disabled": true, "aria-disabled": true, "aria-describedby": id })}
          onClick={(event) => (isOff ? event.preventDefault() : onPublish())}
        >
          {texts.publish}
        </Button>
      </Tooltip>
      {isOff && <VisuallyHidden id={id}>{whyNot}</VisuallyHidden>}
    </>
  );
}
