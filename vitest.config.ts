import { defineConfig } from "vitest/config";

export default defineConfig({
  // NODE_ENV is production, as in the bundle, and React's production build has no development runtime for JSX.
  oxc: { jsx: { runtime: "automatic", development: false } },
  test: {
    include: ["test/**/*.test.ts", "test/**/*.test.tsx"],
    // Two workers: the machine that runs this also runs tmux and real programs in the end-to-end tests.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    env: { TZ: "UTC", NODE_ENV: "production", FORCE_COLOR: "3" },
  },
});
