/**
 * The official MCP inspector, as a client that is not ours, against a real installation: it lists our tools and calls them, with both
 * outcomes. `bun run test:mcp-inspector`. Not part of `npm test`: its 190 packages (95 MB) are fetched when this runs.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startInstallation } from "@executor/testkit/installation/start-installation";
import { signIn } from "../support/api.ts";

const VERSION = "2.12.0";
const folder = join(import.meta.dir, `../../node_modules/.cache/inspector-${VERSION}`);
mkdirSync(folder, { recursive: true });
await Bun.write(join(folder, "package.json"), "{}");
await Bun.$`${process.execPath} add --exact --silent --ignore-scripts @modelcontextprotocol/inspector@${VERSION}`.cwd(
  folder,
);

const installation = await startInstallation();
try {
  const person = await signIn(installation);
  const { token } = await person.executor.keys.create({ role: "agent", label: "inspector" });
  const expectOf = async (wants: { code: number; text: string }, ...args: string[]): Promise<void> => {
    const cli = join(folder, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    const url = `http://localhost:${installation.port}/mcp`;
    const auth = ["--header", `Authorization: Bearer ${token}`];
    const child = Bun.spawn([process.execPath, cli, "--cli", url, "--transport", "http", ...auth, ...args], {
      env: { PATH: process.env["PATH"] ?? "", HOME: installation.home },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const out = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text());
    const code = await child.exited;
    if (code !== wants.code || !out.includes(wants.text))
      throw new Error(`inspector ${args.join(" ")}: exit ${code}, and it said\n${out}`);
    console.log(`ok  ${args.join(" ")}`);
  };
  await expectOf({ code: 0, text: '"execute"' }, "--method", "tools/list");
  const call = ["--method", "tools/call", "--tool-name"];
  await expectOf({ code: 0, text: "Result: 42" }, ...call, "execute", "--tool-arg", "code=return 40 + 2");
  await expectOf(
    { code: 5, text: "There is no tool executor.ecko" },
    ...call,
    "execute",
    "--tool-arg",
    "code=tools.executor.ecko()",
  );
  await expectOf({ code: 5, text: "There is no task" }, ...call, "resume", "--tool-arg", "taskId=task_nobody");
} finally {
  await installation.stop();
}
