// Bundles the program and its libraries into dist/, which is also what gets published.
import { execFile } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const LIBRARIES = ["statefile", "codebot", "herrscher", "questmaster"];
/** Brings helper programs that it looks for beside its own code, so it stays a package of its own. */
const EXTERNAL = ["clipboardy"];

/** @param {{ root?: string, outdir?: string, types?: boolean }} [options] */
export async function buildAll({ root = ROOT, outdir = join(root, "dist"), types = true } = {}) {
  const libraries = LIBRARIES.filter((name) => existsSync(join(root, "src/sources", name, "index.ts")));
  const [kept] = await Promise.all([
    bundle(root, outdir, libraries),
    types ? declarations(root, outdir, libraries) : undefined,
  ]);
  const published = describe(root, libraries);
  writeFileSync(join(outdir, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  for (const name of ["README.md", "LICENSE"]) {
    if (existsSync(join(root, name))) cpSync(join(root, name), join(outdir, name));
  }
  // Chunks carry a hash in their name: older ones go only now, so that a running program keeps what it may still import.
  for (const name of readdirSync(outdir)) {
    if (name.endsWith(".js") && !kept.has(name)) rmSync(join(outdir, name));
  }
  return { outdir, files: [...kept] };
}

async function bundle(root, outdir, libraries) {
  const program = existsSync(join(root, "src/cli.ts"))
    ? {
        forktail: join(root, "src/cli.ts"),
        "fold-worker": join(root, "src/live/fold-worker.ts"),
        "scan-worker": join(root, "src/search/scan-worker.ts"),
      }
    : {};
  const entryPoints = {
    ...program,
    ...Object.fromEntries(libraries.map((name) => [name, join(root, "src/sources", name, "index.ts")])),
  };
  const result = await build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22",
    jsx: "automatic",
    // jsonc-parser's "main" is a UMD file that a bundle cannot resolve.
    mainFields: ["module", "main"],
    chunkNames: "chunk-[hash]",
    external: EXTERNAL,
    // Nothing here calls the network. Yoga only asks whether it could, and for the answer Node loads its HTTP client: 40 ms.
    define: { "process.env.NODE_ENV": '"production"', fetch: "undefined" },
    // CommonJS dependencies call require() for Node's own modules.
    banner: {
      js: 'import { createRequire as bundledRequire } from "node:module"; const require = bundledRequire(import.meta.url);',
    },
    plugins: [withoutDevtools],
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  const names = new Set(Object.keys(result.metafile.outputs).map((path) => relative(outdir, join(root, path))));
  if (names.has("forktail.js")) makeRunnable(join(outdir, "forktail.js"));
  return names;
}

/** Ink imports React's developer tools when DEV is set; the published program has no use for them. */
const withoutDevtools = {
  name: "without-devtools",
  setup(build) {
    build.onResolve({ filter: /^react-devtools-core$/ }, (args) => ({
      path: args.path,
      namespace: "without-devtools",
    }));
    build.onLoad({ filter: /.*/, namespace: "without-devtools" }, () => ({
      contents: "export default { initialize() {}, connectToDevTools() {} };",
    }));
  },
};

function makeRunnable(path) {
  const text = readFileSync(path, "utf8");
  if (!text.startsWith("#!")) writeFileSync(path, `#!/usr/bin/env node\n${text}`);
  chmodSync(path, 0o755);
}

async function declarations(root, outdir, libraries) {
  if (libraries.length === 0) return;
  const to = join(outdir, "types");
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const project = join(outdir, "types.tsconfig.json");
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        rootDir: join(root, "src"),
        outDir: to,
        typeRoots: [join(root, "node_modules/@types")],
      },
      include: [],
      files: libraries.map((name) => join(root, "src/sources", name, "index.ts")),
    }),
  );
  try {
    const tsc = join(ROOT, "node_modules/.bin/tsc");
    await promisify(execFile)(tsc, ["-p", project]);
  } catch (error) {
    // The declarations are written all the same; whether types are right is what `npm run check` says.
    console.error(`types of the libraries:\n${error.stdout || error.message}`);
  } finally {
    rmSync(project, { force: true });
  }
}

/** What the published package.json says: only what is not bundled is a dependency. */
function describe(root, libraries) {
  const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const kept = ["name", "version", "description", "license", "author", "repository", "homepage", "bugs", "keywords"];
  return {
    ...Object.fromEntries(kept.filter((field) => own[field] !== undefined).map((field) => [field, own[field]])),
    type: "module",
    engines: own.engines,
    bin: { forktail: "forktail.js" },
    exports: {
      ...Object.fromEntries(
        libraries.map((name) => [
          `./${name}`,
          { types: `./types/sources/${name}/index.d.ts`, default: `./${name}.js` },
        ]),
      ),
      "./package.json": "./package.json",
    },
    files: ["*.js", "types"],
    dependencies: Object.fromEntries(EXTERNAL.map((name) => [name, own.dependencies[name]])),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const started = performance.now();
  const { outdir, files } = await buildAll();
  const shown = relative(process.cwd(), outdir) || ".";
  console.log(`built ${files.length} files into ${shown}/ in ${Math.round(performance.now() - started)} ms`);
}
