/** One of several processes that update the same session: `node writer.ts ROOT ID NAME TIMES`. */
import { updateAndLog } from "../../../src/sources/questmaster/session-files.ts";
import { newPaneState } from "../../../src/sources/questmaster/session-state.ts";
import { nanoTime } from "../../../src/sources/questmaster/time.ts";

const [root = "", id = "", name = "", times = "0"] = process.argv.slice(2);

for (let n = 1; n <= Number(times); n++) {
  const ts = nanoTime(BigInt(Date.now()) * 1_000_000n);
  const event = {
    ts,
    agent: "claude",
    role: "primary",
    action: "tool_start",
    activity: `${name} ${n}`,
    kind: "PreToolUse",
  };
  await updateAndLog(
    id,
    event,
    (state) => {
      const pane = state.panes.get(name) ?? newPaneState(name, "claude");
      const total = state.panes.get("primary") ?? newPaneState("primary", "claude");
      state.panes.set(name, { ...pane, seq: pane.seq + 1n });
      state.panes.set("primary", { ...total, seq: total.seq + 1n });
      return true;
    },
    { root, waitMs: 60_000 },
  );
}
