/** Catches render errors of a visualization, so that the rest of the page stays usable. */
import { Alert } from "@mantine/core";
import { Component, type ReactNode, useState } from "react";

interface ErrorBoundaryProps {
  /** Shown instead of the children: "The graph could not be drawn." */
  message: string;
  /** The data that the children show. A new value renders them again. */
  resetKey: unknown;
  children: ReactNode;
}

export function ErrorBoundary({ message, resetKey, children }: ErrorBoundaryProps) {
  const [failure, setFailure] = useState<{ resetKey: unknown }>();
  if (failure === undefined || failure.resetKey !== resetKey)
    return <ErrorCatcher onError={() => setFailure({ resetKey })}>{children}</ErrorCatcher>;
  return (
    <Alert color="gray" role="status">
      {message}
    </Alert>
  );
}

/** A class component, because React has no hook that catches render errors. */
class ErrorCatcher extends Component<{ onError: () => void; children: ReactNode }, { hasError: boolean }> {
  override state = { hasError: false };

  static getDerivedStateFromError() {
    return { hasError: true };
  }

  override componentDidCatch() {
    this.props.onError();
  }

  override render() {
    return this.state.hasError ? null : this.props.children;
  }
}
