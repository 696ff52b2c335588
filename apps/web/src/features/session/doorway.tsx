/** The pages before the console: starting, the server is away, choosing between two workspaces, signing in. */
import { useState } from "react";
import { adopt, enterAnonymously, enterWith, type SessionState, stayWith } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";

export function Doorway({ state }: { state: Exclude<SessionState, { kind: "ready" }> }) {
  return (
    <main className="grid min-h-full place-items-center p-4">
      <div className="w-full max-w-md">
        <p className="mb-4 flex items-center gap-2 text-lg font-semibold">
          <img src="/favicon.svg" alt="" className="size-7" /> Executor
        </p>
        <Inside state={state} />
      </div>
    </main>
  );
}

function Inside({ state }: { state: Exclude<SessionState, { kind: "ready" }> }) {
  if (state.kind === "choosing") return <Choose {...state} />;
  if (state.kind === "signedOut") return <SignIn reason={state.reason} mayBeAnonymous={state.mayBeAnonymous} />;
  return (
    <div role="status" className="panel flex items-center gap-3 p-5 text-muted">
      <span className="size-2.5 animate-pulse rounded-full bg-accent" />
      {state.kind === "away" ? "The server does not answer. Trying again …" : "Opening your workspace …"}
    </div>
  );
}

function SignIn({ reason, mayBeAnonymous }: { reason: string | null; mayBeAnonymous: boolean }) {
  const [pasted, setPasted] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    setProblem(await enterWith(pasted));
    setBusy(false);
  };
  return (
    <div className="panel flex flex-col gap-4 p-5">
      <h1>Sign in</h1>
      {reason !== null && (
        <p role="status" className="text-muted">
          <Untrusted text={reason} />
        </p>
      )}
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <TextField
          label="API key, or login or invite link"
          type="password"
          name="token"
          autoComplete="off"
          spellCheck={false}
          required
          value={pasted}
          problem={problem}
          hint="The key stays in this browser until you sign out."
          onChange={(event) => setPasted(event.target.value)}
        />
        <Button kind="primary" type="submit" disabled={isBusy}>
          Sign in
        </Button>
      </form>
      <p className="text-sm text-muted">
        On the machine that runs Executor, the token in the file <code className="font-mono">owner-key</code> of its
        data directory signs in its owner. Anyone else needs a key or an invite from an admin.
      </p>
      {mayBeAnonymous && (
        <Button
          icon="plus"
          onClick={() => void enterAnonymously().catch((error: unknown) => setProblem(String(error)))}
        >
          Start a new workspace without signing in
        </Button>
      )}
    </div>
  );
}

function Choose({ present, offered }: Extract<SessionState, { kind: "choosing" }>) {
  return (
    <div className="panel flex flex-col gap-4 p-5">
      <h1>Join another workspace?</h1>
      <p>
        This link signs you in as <strong>{offered.role}</strong> of another workspace. This browser is{" "}
        <strong>{present.role}</strong> of one already. What you enter afterwards goes to the workspace you choose now.
      </p>
      <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-sm">
        <dt className="text-muted">Now</dt>
        <dd className="truncate font-mono">{present.workspaceId}</dd>
        <dt className="text-muted">Offered</dt>
        <dd className="truncate font-mono">{offered.workspaceId}</dd>
      </dl>
      {present.tokenKind === "anonymous" && (
        <p className="flex gap-2 rounded-md bg-warn-soft p-3 text-sm text-warn">
          <Icon name="warning" className="mt-0.5 size-4" />
          The present workspace has no key but this browser&apos;s: once you leave it, nobody can come back to it.
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" onClick={() => adopt(offered)}>
          Join it
        </Button>
        <Button onClick={() => void stayWith({ present, offered })}>Stay where I am</Button>
      </div>
    </div>
  );
}
