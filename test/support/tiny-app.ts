import { Box, Text, useApp, useInput, useWindowSize } from "ink";
import { createElement as h, type ReactElement, useState } from "react";

/** The smallest full-screen program: what the harness proves itself on. `t` draws a frame that does not fit. */
export function TinyApp(): ReactElement {
  const { columns, rows } = useWindowSize();
  const { exit } = useApp();
  const [count, setCount] = useState(0);
  const [said, setSaid] = useState("");
  const [tall, setTall] = useState(false);
  useInput((input, key) => {
    if (key.escape) setSaid("escape");
    else if (key.return) setSaid("enter");
    else if (key.ctrl && input === "d") setSaid("control d");
    else if (input === "q") exit();
    else if (input === "x") process.exit(3);
    else if (input === "t") setTall(true);
    else if (/^j+$/u.test(input)) setCount((before) => before + input.length);
    else setSaid(input);
  });
  return h(
    Box,
    { width: columns, height: tall ? rows + 3 : rows, flexDirection: "column", overflow: "hidden" },
    h(Text, { bold: true, color: "#ff8800" }, `count ${count}`),
    h(Text, { inverse: true }, `日本語 ${columns}x${rows}`),
    h(Text, { dimColor: true, wrap: "truncate" }, `said ${said}`),
    h(Box, { flexGrow: 1 }),
    h(Text, null, "bottom"),
  );
}
