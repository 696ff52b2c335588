/** The program behind fake-tailscale.ts: `<folder> <arguments of tailscale>`. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeHost, type TailscaleState } from "./fake-tailscale.ts";

interface Config {
  TCP?: Record<string, object>;
  Web?: Record<string, { Handlers: Record<string, object> }>;
  AllowFunnel?: Record<string, boolean>;
}

const [folder = "", ...args] = Bun.argv.slice(2);
const statePath = join(folder, "state.json");
const state = JSON.parse(readFileSync(statePath, "utf8")) as TailscaleState;
const config = state.config as Config;
appendFileSync(join(folder, "log"), `${args.join(" ")}\n`);

const say = (text: string): void => void process.stdout.write(text);
function leave(code: number, complaint = ""): never {
  process.stderr.write(complaint);
  process.exit(code);
}
const option = (name: string): string => args.find((arg) => arg.startsWith(`--${name}=`))?.split("=")[1] ?? "";

if (state.mode === "daemon-down")
  leave(
    1,
    "failed to connect to local tailscaled; it doesn't appear to be running (sudo systemctl start tailscaled ?)\n",
  );
if (args[0] === "status") {
  const Self = {
    DNSName: `${fakeHost}.`,
    CapMap: { https: null, funnel: null, "https://tailscale.com/cap/funnel-ports?ports=443,8443,10000": null },
  };
  say(
    JSON.stringify(
      state.mode === "logged-out"
        ? { BackendState: "NeedsLogin", AuthURL: "https://login.example/a" }
        : { BackendState: "Running", Self },
    ),
  );
} else if (args[1] === "status") say(JSON.stringify(config));
else if (state.mode === "access-denied")
  leave(
    1,
    "Access denied: serve config denied\n\nUse 'sudo tailscale funnel'.\nTo not require root, use 'sudo tailscale set --operator=$USER' once.\n",
  );
else if (state.mode === "not-enabled" || state.mode === "blocks") {
  say(
    "\nFunnel is not enabled on your tailnet.\nTo enable, visit:\n\n         https://login.tailscale.com/f/funnel?node=n1\n\n",
  );
  if (state.mode === "blocks") await new Promise(() => setInterval(() => undefined, 1_000));
} else change(option("https"), option("set-path"), args.at(-1) ?? "");

function change(port: string, path: string, target: string): void {
  const at = `${fakeHost}:${port}`;
  const web = ((config.Web ??= {})[at] ??= { Handlers: {} });
  if (target === "off") {
    delete web.Handlers[path];
    if (Object.keys(web.Handlers).length === 0) {
      delete config.Web[at];
      delete config.TCP?.[port];
      delete config.AllowFunnel?.[at];
    }
  } else {
    web.Handlers[path] = { Proxy: target };
    (config.TCP ??= {})[port] = { HTTPS: true };
    (config.AllowFunnel ??= {})[at] = true;
  }
  writeFileSync(statePath, JSON.stringify({ ...state, config }));
}
