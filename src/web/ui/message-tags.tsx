/** The tags of messages, outside of components: a function within one that returns JSX counts as a component. */
import { Anchor, type AnchorProps, Code } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";

type Tag = (text: ReactNode) => ReactNode;

export const strong: Tag = (text) => <strong>{text}</strong>;

export const codeTag: Tag = (text) => <Code>{text}</Code>;

/** @returns the tag that links to a page */
export const linkTo =
  (path: string, props: AnchorProps = {}): Tag =>
  (text) => (
    <Anchor component={Link} to={path} {...props}>
      {text}
    </Anchor>
  );
