import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "test/**/*.test.tsx"],
    // Two workers: the machine that runs this also runs tmux and real programs in the end-to-end tests.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    env: { TZ: "UTC", NODE_ENV: "production", FORCE_COLOR: "3" },
  },
});
