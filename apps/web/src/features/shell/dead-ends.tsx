/** Addresses that lead nowhere, and screens that broke. */
import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { buttonLook } from "../../ui/button.tsx";
import { EmptyState, ErrorState } from "../../ui/states.tsx";

export function NotFound() {
  return (
    <EmptyState icon="question" title="There is nothing at this address">
      <p>It may have been mistyped, or what it named is gone.</p>
      <Link to="/" className={buttonLook("primary")}>
        To the approvals
      </Link>
    </EmptyState>
  );
}

export function ScreenError({ error, reset }: ErrorComponentProps) {
  return <ErrorState error={error} onRetry={reset} />;
}
