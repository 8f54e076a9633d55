/** argv → one command; nothing else. This file must run on any Node, to say in one line when it is too old. */
const NEEDS = [22, 22] as const;

const words = process.argv.slice(2);
const [command, agent, action, ...rest] = words;
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < NEEDS[0] || (major === NEEDS[0] && minor < NEEDS[1])) {
  process.stderr.write(
    `forktail needs Node ${NEEDS.join(".")} or newer; this is ${process.versions.node}. Install a newer Node, or in its source tree run it with: npm start\n`,
  );
  // No agent must be stopped by its hook, whatever is wrong (questmaster.md §7).
  const withValue = ["--root", "--config", "--session"];
  const called = words.find((word, at) => !word.startsWith("-") && !withValue.includes(words[at - 1] ?? ""));
  process.exitCode = called === "hook" ? 0 : 1;
} else {
  const isScreen = command === undefined || command.startsWith("-");
  if (isScreen) (await import("./commands/tight-malloc.ts")).withTightMalloc();
  const { enableCompileCache } = await import("node:module");
  enableCompileCache?.();
  const isName = (word: string | undefined): word is string => /^[^-]/u.test(word ?? "");
  if (command === "hook" && isName(agent) && isName(action) && rest.length === 0) {
    // An agent waits for its hook: nothing is loaded that the hook does not need.
    const { hook } = await import("./commands/hook.ts");
    process.exitCode = await hook({}, agent, action);
  } else {
    const { main } = await import("./main.ts");
    process.exitCode = await main(words);
  }
}

export {};
