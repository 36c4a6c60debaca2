/** Says whether the text is valid. A text that was not checked is never said to be. */
import { Anchor, Text } from "@mantine/core";
import * as texts from "#texts/editor";
import { type CheckedText, statusText } from "./status-text.ts";

export function ValidationStatus({ checkAgain, ...checked }: CheckedText & { checkAgain: () => void }) {
  return (
    <Text size="sm" c="dimmed" component="div">
      <span role="status">{statusText(checked)}</span>
      {checked.state === "unavailable" && (
        <>
          {" "}
          <Anchor component="button" type="button" size="sm" onClick={checkAgain}>
            {texts.checkAgain}
          </Anchor>
        </>
      )}
    </Text>
  );
}
