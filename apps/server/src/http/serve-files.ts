/**
 * The console's files. A request can only name a file that lies in the folder, after decoding once and following links;
 * any other path that looks like a page gets the console itself, which finds its own way.
 */
import { realpath, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { AppError } from "@executor/contracts/error";
import { CONSOLE_POLICY } from "./security-headers.ts";

/** Paths of other doors: a page must never answer for them. */
const NOT_PAGES = /^\/(api|internal|mcp|oauth|\.well-known)(\/|$)/;

type ServeFile = (method: string, path: string, acceptEncoding?: string) => Promise<Response>;

export function createFileServer(root: string | null): ServeFile {
  return async function serveFile(method, path, acceptEncoding = "") {
    const notFound = () => new AppError("route.not_found", "There is nothing here. The API is under /api.");
    if (root === null || NOT_PAGES.test(path)) throw notFound();
    if (method !== "GET" && method !== "HEAD")
      throw new AppError("route.method_not_allowed", "Files can only be read.", { data: { allow: ["GET", "HEAD"] } });
    const name = decodePath(path);
    if (name === null) throw notFound();
    const file =
      (await findFile(root, name === "/" ? "/index.html" : name)) ??
      (isPage(name) ? await findFile(root, "/index.html") : null);
    if (file === null) throw notFound();
    return answerFile(file, method, /\bgzip\b/.test(acceptEncoding) && (await isFile(`${file}.gz`)));
  };
}

/** Null for what no honest link contains. Decoded once: what is encoded twice stays a strange name. */
function decodePath(path: string): string | null {
  try {
    const name = decodeURIComponent(path);
    const isStrange =
      /[\u0000-\u001f\\]/.test(name) ||
      name.split("/").some((part) => part === ".." || part === "." || part.startsWith("."));
    return isStrange || !name.startsWith("/") ? null : name;
  } catch {
    return null;
  }
}

const isPage = (name: string): boolean => !(name.split("/").at(-1) ?? "").includes(".");

async function findFile(root: string, name: string): Promise<string | null> {
  try {
    const folder = await realpath(root);
    const file = await realpath(resolve(join(folder, name)));
    return file.startsWith(folder + sep) && (await stat(file)).isFile() ? file : null;
  } catch {
    return null;
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** `isPacked`: its compressed form lies beside it, and the caller reads such. */
function answerFile(path: string, method: string, isPacked: boolean): Response {
  const isHashed = /\/assets\/[^/]+-[A-Za-z0-9_-]{8,}\.\w+$/.test(path);
  const headers = {
    "content-type": Bun.file(path).type,
    "content-security-policy": CONSOLE_POLICY,
    "cache-control": isHashed ? "public, max-age=31536000, immutable" : "no-cache",
    vary: "accept-encoding",
    ...(isPacked && { "content-encoding": "gzip" }),
  };
  return new Response(method === "HEAD" ? null : Bun.file(isPacked ? `${path}.gz` : path), { headers });
}
