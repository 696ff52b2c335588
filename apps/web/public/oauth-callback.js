/**
 * Ends a sign-in where people share an installation: the provider's answer counts only together with the token of the one who began
 * it. The answer is taken out of the address at once, so that it stays in no history.
 */
const query = location.search;
history.replaceState(null, "", location.pathname);
const main = document.querySelector("main");
const token = sessionStorage.getItem("executor.token");
if (token) finish(token);
else askToken();

function askToken(problem = "") {
  const field = element("input", { type: "password", name: "token", autocomplete: "off", required: true });
  const label = element(
    "label",
    {},
    "Your token (a session id or a key), to be sure that you began this sign-in",
    field,
  );
  const form = element("form", {}, label, element("button", { type: "submit", textContent: "Go on" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void finish(field.value.trim());
  });
  main.replaceChildren(heading(), status(problem), form);
  field.focus();
}

async function finish(bearer) {
  main.replaceChildren(heading(), status("One moment …"));
  const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json" };
  const me = await fetch("/api/auth/me", { headers });
  if (!me.ok) return askToken("That token is not valid.");
  const { workspaceId } = await me.json();
  const done = await fetch("/api/oauth/finish", {
    method: "POST",
    headers,
    body: JSON.stringify({ workspaceId, query }),
  });
  const answer = await done.json().catch(() => ({}));
  const said = done.ok ? "Connected. You can close this page; what waited for it goes on." : answer.detail;
  main.replaceChildren(heading(), status(said ?? "That did not work. Start the sign-in again."));
}

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
const heading = () => element("h1", { textContent: "Sign-in" });
function status(textContent) {
  const made = element("p", { textContent });
  made.setAttribute("role", "status");
  return made;
}
