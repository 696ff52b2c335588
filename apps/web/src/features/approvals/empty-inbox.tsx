/** An inbox without work: says what would come here, and offers to try it. */
import { Link } from "@tanstack/react-router";
import { buttonLook } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/states.tsx";

export function EmptyInbox({ isAllQuiet }: { isAllQuiet: boolean }) {
  return (
    <EmptyState icon="check" title={isAllQuiet ? "Nothing waits for you" : "No approvals wait"}>
      <p>
        When the code of a task calls a tool that needs a person, the task pauses and the exact call appears here. Its
        clock stands still meanwhile, however long you take.
      </p>
      <Link to="/tasks/new" className={buttonLook("primary")}>
        Run a task
      </Link>
    </EmptyState>
  );
}
