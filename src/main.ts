import { Command, CommanderError, Option } from "commander";
import { WrongUsage } from "./commands/wrong-usage.ts";
import { cleanText } from "./session/untrusted.ts";
import { VERSION } from "./version.ts";

/** Runs one command line. Returns the exit code: 0 done, 1 could not, 2 wrong usage (design §6); of `hook` always 0. */
export async function main(argv: string[]): Promise<number> {
  // The reader of a pipe has seen enough (`| head`): that is no fault of ours or theirs.
  process.stdout.on("error", (error) => {
    if ("code" in error && error.code === "EPIPE") process.exit(0);
    throw error;
  });
  let code = 0;
  const program = commands((result) => {
    code = result;
  });
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    code = failure(error);
  }
  // Agents take 2 of a hook for a veto: a hook that is called wrongly must not stop their tools (questmaster.md §7).
  return firstWord(argv, program) === "hook" ? 0 : code;
}

/**
 * The command that is meant: the first word that is neither an option nor an option's value. Known too where commander
 * calls another one, or none: behind an option that is wrong there.
 */
function firstWord(argv: string[], program: Command): string | undefined {
  const options = [program, ...program.commands].flatMap((command) => command.options);
  const withValue = new Set(options.filter((option) => option.required).map((option) => option.long));
  let isValue = false;
  return argv.find((word) => {
    const isWord = !isValue && !word.startsWith("-");
    isValue = !isValue && withValue.has(word);
    return isWord;
  });
}

/** Says what went wrong, where that was not said yet, and returns its exit code. */
function failure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  // One line that says what and what to do. Parts of it come from files.
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`forktail: ${cleanText(message).replaceAll("\n", " ")}\n`);
  return error instanceof WrongUsage ? 2 : 1;
}

function commands(done: (code: number) => void): Command {
  const program = new Command("forktail")
    .description(
      "One terminal that watches, reads, resumes, forks and rewinds every coding-agent session on this machine.",
    )
    .version(VERSION, "-V, --version", "print the version")
    .addOption(
      new Option(
        "--root <source=dir>",
        "read this directory; may be repeated, replaces the source's default places",
      ).argParser((value: string, all: string[] = []) => [...all, value]),
    )
    .option("--config <file>", "config file (default: forktail/config.json in the XDG config directory)")
    .option("--poll", "never watch, always poll: for network file systems")
    .option("--json", "print JSON")
    .option("--all", "also sub-agents, internal, superseded and hidden sessions")
    .configureOutput({ outputError: (text, write) => write(`forktail: ${text.replace(/^error: /u, "")}`) })
    .exitOverride()
    .showSuggestionAfterError();

  const run =
    (load: () => Promise<(options: never, ...args: never[]) => Promise<number>>) =>
    async (...given: unknown[]): Promise<void> => {
      const command = given.at(-1);
      if (!(command instanceof Command)) throw new Error("commander gave no command");
      const args = given.slice(0, -2);
      const action = (await load()) as (options: unknown, ...args: unknown[]) => Promise<number>;
      done(await action(command.optsWithGlobals(), ...args));
    };

  program
    .command("browse", { isDefault: true })
    .description("open the screen (what forktail without a command does)")
    .option("--plain", "print the sessions once, line by line, for screen readers")
    .action(run(async () => (await import("./commands/browse.ts")).browse));
  program
    .command("list")
    .description("print the sessions, newest first")
    .action(run(async () => (await import("./commands/list.ts")).list));
  program
    .command("show <key>")
    .description("print a session's transcript")
    .option("--context", "what the model sees, in its order")
    .option("--view <view>", "another view: usage, info, tasks …")
    .option("--of <name>", "which branch, member or sub-agent")
    .action(run(async () => (await import("./commands/show.ts")).show));
  program
    .command("search <words...>")
    .description('find entries that hold all the words, or "a phrase" in quotes; newest first, tool output included')
    .option("--limit <n>", "most hits (default: 100)")
    .action(run(async () => (await import("./commands/search.ts")).search));
  program
    .command("export <key>")
    .description("write a session as Markdown, as one HTML file or as JSON")
    .addOption(new Option("--format <format>", "default: by the file's name, else md").choices(["md", "html", "json"]))
    .option("--output <file>", "into this new file instead of to standard output")
    .option("--force", "replace the file when it is there")
    .action(run(async () => (await import("./commands/export.ts")).exportCommand));
  program
    .command("fork <key>")
    .description("make a new session from everything before an entry, or from all of it")
    .option("--before <ref>", "end just before this entry")
    .option("--yes", "agree to what would be asked")
    .action(run(async () => (await import("./commands/fork.ts")).fork));
  program
    .command("revert <key>")
    .description("fork, and fold the original away; it is not touched")
    .requiredOption("--before <ref>", "end just before this entry")
    .option("--yes", "agree to what would be asked")
    .action(run(async () => (await import("./commands/fork.ts")).revert));
  program
    .command("undo [key]")
    .description("take back a revert: the last one, or the one of this session")
    .action(run(async () => (await import("./commands/fork.ts")).undo));
  program
    .command("resume <key>")
    .description("run the tool's own resume command, or go to the pane where it is live")
    .option("--print", "only print the command")
    .addOption(new Option("--in <place>", "inside tmux: where").choices(["split", "window", "here"]))
    .action(run(async () => (await import("./commands/resume.ts")).resume));
  program
    .command("usage")
    .description("tokens and cost, each request counted once")
    .option("--by <what>", "day, model, project, agent or session", "day")
    .option("--since <day>", "first day that counts, like 2026-11-20")
    .option("--until <day>", "last day that counts")
    .option("--timezone <zone>", "where a day begins (default: this machine's)")
    .option("--audit <key>", "the requests behind a session's number, and the duplicates left out")
    .action(run(async () => (await import("./commands/usage.ts")).usage));
  program
    .command("watch")
    .description("print one JSON line for every session that changes, until stopped")
    .action(run(async () => (await import("./commands/watch.ts")).watch));
  program
    .command("keep <key>")
    .description("keep a compressed copy of a session, for when its tool deletes it")
    .action(run(async () => (await import("./commands/keep.ts")).keep));
  program
    .command("kept")
    .description("print the sessions of which a copy is kept")
    .action(run(async () => (await import("./commands/kept.ts")).kept));
  program
    .command("restore <key>")
    .description("put a kept session's files back where they are missing; nothing is overwritten")
    .option("--from <time>", "an earlier state of it, as forktail kept --json lists them")
    .action(run(async () => (await import("./commands/kept.ts")).restore));
  program
    .command("status")
    .description("print one short line for a status bar: who needs you, what failed, what works, what is done")
    .addOption(new Option("--format <format>", "colours for tmux, or none").choices(["plain", "tmux"]).default("plain"))
    .option("--ascii", "glyphs from ASCII only")
    .action(run(async () => (await import("./commands/status.ts")).status));
  program
    .command("config")
    .description("print the settings that count, and where each comes from")
    .addOption(new Option("--schema", "print the JSON schema of the config file instead").conflicts("path"))
    .option("--path", "print where the config file lies instead")
    .action(run(async () => (await import("./commands/config.ts")).config));
  program
    .command("doctor")
    .description("say where it looks, what it sees, and what is wrong")
    .action(run(async () => (await import("./commands/doctor.ts")).doctor));
  program
    .command("hook <agent> <action>")
    .description(
      "for agents: write a pane state from the hook's JSON on standard input; never fails or delays its agent",
    )
    .option("--session <id>", "the session, instead of the one in the environment")
    .action(run(async () => (await import("./commands/hook.ts")).hook));
  program
    .command("hooks <action> [agents...]")
    .description("install, status or uninstall the hooks of Claude Code and Codex, after showing the change")
    .option("--yes", "agree to what would be asked")
    .action(run(async () => (await import("./commands/hooks.ts")).hooks));
  program
    .command("demo")
    .description("play bundled sessions live into a temporary directory, and open the screen on them")
    .action(run(async () => (await import("./commands/demo.ts")).demo));
  return program;
}
