/**
 * The page on which a person gives a task what it waits for: a secret, a sign-in, an answer. It stands at /interactions/<id>
 * until the console takes its place. The token stays in this tab; what is typed goes to the server once and is shown to nobody.
 */
const id = /^\/interactions\/([A-Za-z0-9_.:@-]{1,128})$/.exec(location.pathname)?.[1];
if (id) start(id);

async function start(interactionId) {
  const main = document.querySelector("main");
  main.replaceChildren(heading("A task waits for you"), status("Loading …"));
  const token = sessionStorage.getItem("executor.token");
  if (!token) return askToken(main, interactionId);
  const answer = await call("GET", `/api/interactions/${interactionId}`, token);
  if (answer.status === 401) {
    sessionStorage.removeItem("executor.token");
    return askToken(main, interactionId, "That token is not valid any more.");
  }
  if (!answer.ok)
    return main.replaceChildren(heading("A task waits for you"), status(answer.body.detail ?? "It cannot be shown."));
  show(main, answer.body, token);
}

function askToken(main, interactionId, problem = "") {
  const field = input("Your token (a session id or an admin's key)", "password", "token");
  const form = makeForm("Go on", [field], async () => {
    sessionStorage.setItem("executor.token", field.querySelector("input").value.trim());
    await start(interactionId);
  });
  main.replaceChildren(heading("A task waits for you"), status(problem), form);
  form.querySelector("input").focus();
}

async function show(main, interaction, token) {
  const intro = [heading(interaction.title), paragraph(visible(interaction.detail))];
  if (interaction.status !== "pending")
    return main.replaceChildren(...intro, status(`This is ${interaction.status} already.`));
  const caller = await call("GET", "/api/auth/me", token);
  const workspaceId = caller.body.workspaceId;
  const note = status("");
  const send = async (body) => {
    const done = await call("POST", `/api/interactions/${interaction.interactionId}`, token, { workspaceId, ...body });
    if (done.ok)
      main.replaceChildren(
        heading(interaction.title),
        status(body.decline ? "Declined. The task was told." : "Thank you. The task goes on."),
      );
    else note.textContent = done.body.detail ?? "That did not work.";
  };
  const decline = button("Decline", () => send({ decline: true }));
  const form =
    interaction.kind === "oauth" ? signIn(interaction, token, workspaceId, note) : answerForm(interaction, send);
  main.replaceChildren(...intro, note, form, decline);
  form.querySelector("input, button, select")?.focus();
}

function signIn(interaction, token, workspaceId, note) {
  return makeForm("Sign in with the provider", [], async () => {
    const { interactionId } = interaction;
    const started = await call("POST", "/api/oauth/connect", token, {
      workspaceId,
      interactionId,
      sourceKey: sourceOf(interaction),
    });
    if (started.ok) location.assign(started.body.authorizationUrl);
    else note.textContent = started.body.detail ?? "The sign-in cannot be started.";
  });
}

const sourceOf = ({ toolPath }) => toolPath.split(".")[0];

function answerForm(interaction, send) {
  const schema = interaction.schema ?? { type: "string" };
  const isSecret = interaction.kind === "credential";
  if (schema.type !== "object") {
    const field = schema.enum
      ? choice("Your answer", schema.enum)
      : input("Your answer", isSecret ? "password" : "text", "answer");
    return makeForm("Send", [field], () => send({ answer: field.querySelector("input, select").value }));
  }
  const entries = Object.entries(schema.properties ?? {}).map(([name, about]) => {
    const label = about.title ?? about.description ?? name;
    const type = isSecret && name !== "username" ? "password" : about.type === "boolean" ? "checkbox" : "text";
    const field = about.enum ? choice(label, about.enum) : input(label, type, name);
    const box = field.querySelector("input, select");
    box.required = (schema.required ?? []).includes(name) && type !== "checkbox";
    const read = () => {
      if (type === "checkbox") return box.checked;
      return about.type === "number" || about.type === "integer" ? Number(box.value) : box.value;
    };
    return { name, field, box, read };
  });
  return makeForm(
    "Send",
    entries.map(({ field }) => field),
    () => {
      const given = entries.filter(({ box }) => box.type === "checkbox" || box.value !== "");
      return send({ answer: Object.fromEntries(given.map(({ name, read }) => [name, read()])) });
    },
  );
}

async function call(method, path, token, body) {
  const headers = { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) };
  const response = await fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { ok: response.ok, status: response.status, body: await response.json().catch(() => ({})) };
}

/** What could hide or turn text around is shown as what it is. */
const visible = (text) =>
  text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
const heading = (text) => element("h1", { textContent: visible(text) });
const paragraph = (textContent) => element("p", { textContent });
const status = (textContent) => {
  const made = element("p", { textContent });
  made.setAttribute("role", "status");
  return made;
};
const button = (textContent, onclick) => element("button", { type: "button", textContent, onclick });
const input = (label, type, name) =>
  element(
    "label",
    {},
    visible(label),
    element("input", { type, name, autocomplete: "off", spellcheck: false, required: type !== "checkbox" }),
  );
const choice = (label, options) =>
  element(
    "label",
    {},
    visible(label),
    element("select", {}, ...options.map((value) => element("option", { value, textContent: visible(String(value)) }))),
  );
function makeForm(label, fields, submit) {
  const form = element("form", {}, ...fields, element("button", { type: "submit", textContent: label }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });
  return form;
}
