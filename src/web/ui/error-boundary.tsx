/** Around what is only a picture of something: where it breaks, the page beside it stays. */
import { Alert } from "@mantine/core";
import { Component, type ReactNode, useState } from "react";

interface ErrorBoundaryProps {
  /** Said in its place: "The graph could not be drawn." */
  message: string;
  /** What it is a picture of: another one is tried anew. */
  resetKey: unknown;
  children: ReactNode;
}

export function ErrorBoundary({ message, resetKey, children }: ErrorBoundaryProps) {
  const [broken, setBroken] = useState<{ of: unknown }>();
  if (broken === undefined || broken.of !== resetKey)
    return <Catcher onBroken={() => setBroken({ of: resetKey })}>{children}</Catcher>;
  return (
    <Alert color="gray" role="status">
      {message}
    </Alert>
  );
}

/** A class: React has no other way to catch what breaks while it draws. */
class Catcher extends Component<{ onBroken: () => void; children: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override componentDidCatch() {
    this.props.onBroken();
  }

  override render() {
    return this.state.isBroken ? null : this.props.children;
  }
}
